// What the isolated process of the office service runs.
import { conversionHandler } from '#shared/document/convert.ts';
import { convertOffice } from './convert.ts';
import { closeLibreOffice } from './libreoffice/soffice.ts';

export const handle = conversionHandler(convertOffice);
export const close = closeLibreOffice;
