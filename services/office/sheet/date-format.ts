// Writes serial days with the date and time codes of a number format (ECMA-376-1, 18.8.31).
import { generalNumber } from './decimal-format.ts';
import type { Section, Token } from './format-code.ts';

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const SECONDS_PER_DAY = 86_400;
/** The serial day of 1970-01-01 in the 1900 date system. */
const UNIX_EPOCH_DAY = 25_569;
/** The days between the epochs of the 1900 and the 1904 date system. */
const DAYS_TO_1904 = 1_462;
const BUDDHIST_ERA = 543;

interface Moment {
  year: number;
  /** 0 for January. */
  month: number;
  day: number;
  /** 0 for Sunday. */
  weekday: number;
  hours: number;
  minutes: number;
  seconds: number;
}

/**
 * The date and time of a number of seconds since the epoch. In the 1900 system, day 0 is shown as 1900-01-00, and day 60
 * as 1900-02-29, which did not exist (ECMA-376-1, 18.17.4.1).
 */
function momentOf(serialSeconds: number, date1904: boolean): Moment | undefined {
  const serialDay = Math.floor(serialSeconds / SECONDS_PER_DAY);
  const seconds = serialSeconds - serialDay * SECONDS_PER_DAY;
  const time = {
    hours: Math.floor(seconds / 3600),
    minutes: Math.floor(seconds / 60) % 60,
    seconds: seconds % 60,
  };
  const day = date1904 ? serialDay + DAYS_TO_1904 : serialDay;
  const weekday = (((day + 6) % 7) + 7) % 7;
  if (day === 0) return { year: 1900, month: 0, day: 0, weekday, ...time };
  if (day === 60) return { year: 1900, month: 1, day: 29, weekday, ...time };
  const date = new Date(((day < 60 ? day + 1 : day) - UNIX_EPOCH_DAY) * SECONDS_PER_DAY * 1000);
  if (Number.isNaN(date.getTime())) return undefined;
  return { year: date.getUTCFullYear(), month: date.getUTCMonth(), day: date.getUTCDate(), weekday, ...time };
}

const pad = (number: number, length: number): string => String(number).padStart(length >= 2 ? 2 : 1, '0');
const named = (name: string, length: number): string => (length === 3 ? name.slice(0, 3) : name);

function formatUnit(unit: string, length: number, moment: Moment, twelve: boolean): string {
  const month = MONTHS[moment.month] ?? '';
  const weekday = DAYS[moment.weekday] ?? '';
  switch (unit) {
    case 'y':
      return length <= 2 ? pad(moment.year % 100, 2) : String(moment.year);
    case 'e':
      return String(moment.year);
    case 'b':
      return length <= 2 ? pad((moment.year + BUDDHIST_ERA) % 100, 2) : String(moment.year + BUDDHIST_ERA);
    case 'm':
      if (length === 5) return month.charAt(0);
      return length >= 3 ? named(month, length) : pad(moment.month + 1, length);
    case 'd':
      return length >= 3 ? named(weekday, length) : pad(moment.day, length);
    case 'a':
      return named(weekday, length);
    case 'h':
      return pad(twelve ? moment.hours % 12 || 12 : moment.hours, length);
    case 'n':
      return pad(moment.minutes, length);
    case 's':
      return pad(Math.floor(moment.seconds), length);
    default:
      return '';
  }
}

function formatElapsed(unit: string, length: number, seconds: number): string {
  const count = unit === 'h' ? seconds / 3600 : unit === 'm' ? seconds / 60 : seconds;
  return String(Math.floor(count + 1e-9)).padStart(length, '0');
}

function isTime(token: Token): boolean {
  return token.kind === 'elapsed' || (token.kind === 'date' && /[hns]/.test(token.unit));
}

const PUNCTUATION: Partial<Record<Token['kind'], string>> = { point: '.', comma: ',', slash: '/' };

/** Compiles a section that has date tokens. */
export function dateWriter({ tokens }: Section, date1904: boolean): (value: number) => string {
  const fraction = tokens.findIndex((token, i) => token.kind === 'digits' && tokens[i - 1]?.kind === 'point');
  const fractionToken = tokens[fraction];
  const decimals = fractionToken?.kind === 'digits' ? fractionToken.text.length : 0;
  const precision = 10 ** decimals;
  // Round to the smallest unit that is shown, so that 59.9999 seconds become a minute. Do not round a date without a time
  // up to the next day.
  const rounding = tokens.some(isTime) ? precision : 1000;
  const twelve = tokens.some((token) => token.kind === 'meridiem');
  return (value) => {
    const seconds = Math.round(value * SECONDS_PER_DAY * rounding) / rounding;
    const moment = momentOf(seconds, date1904);
    if (moment === undefined) return generalNumber(value);
    let text = '';
    for (const token of tokens) {
      if (token.kind === 'literal') text += token.text;
      else if (token.kind === 'date') text += formatUnit(token.unit, token.length, moment, twelve);
      else if (token.kind === 'elapsed') text += formatElapsed(token.unit, token.length, seconds);
      else if (token.kind === 'meridiem') text += formatMeridiem(token.text, moment);
      else if (token === fractionToken)
        text += String(Math.round((moment.seconds % 1) * precision)).padStart(decimals, '0');
      else text += PUNCTUATION[token.kind] ?? '';
    }
    return text.trim();
  };
}

/** @param code `AM/PM` or `A/P` */
function formatMeridiem(code: string, { hours }: Moment): string {
  const half = hours < 12 ? 'AM' : 'PM';
  return code.length === 3 ? half.charAt(0) : half;
}
