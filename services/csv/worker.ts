// Entry point of the isolated process of the csv service.
import { conversionHandler } from '#shared/document/convert.ts';
import { convertCsv } from './convert.ts';

export const handle = conversionHandler(convertCsv);
