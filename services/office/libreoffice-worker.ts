// The entry point of the isolated process that converts the office files that LibreOffice must convert first.
import { conversionHandler } from '#shared/document/convert.ts';
import { convertOffice } from './convert.ts';
import { closeLibreOffice, convertLegacy } from './libreoffice/soffice.ts';

export const handle = conversionHandler((file, options, context) =>
  convertOffice(file, options, context, convertLegacy),
);
export const close = closeLibreOffice;
