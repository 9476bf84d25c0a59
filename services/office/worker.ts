// The entry point of the isolated process that converts office files.
import { conversionHandler } from '#shared/document/convert.ts';
import { convertOffice } from './convert.ts';
import { closeLibreOffice } from './libreoffice/soffice.ts';

export const handle = conversionHandler(convertOffice);
export const close = closeLibreOffice;
