// The entry point of the isolated process that converts the office files that need no LibreOffice.
import { conversionHandler, RedirectError } from '#shared/document/convert.ts';
import { convertOffice } from './convert.ts';

/** A file that needs LibreOffice although its name does not say so goes to the queue for LibreOffice, so that this queue never waits for it. */
const redirect = (): never => {
  throw new RedirectError('libreoffice');
};

export const handle = conversionHandler((file, options, context) => convertOffice(file, options, context, redirect));
