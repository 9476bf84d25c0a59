// Shows serial days as the date and time codes of a spreadsheet's number format ask (ECMA-376-1, 18.8.31).
import { generalNumber } from './decimal-format.ts';
import type { Section } from './format-code.ts';

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
const MS_PER_DAY = 86_400_000;
/** The moment of a serial day (1900 epoch with its false leap day, or 1904). */
export function serialDate(value: number, date1904: boolean): Date {
  const days = date1904 ? value + 1462 : value < 60 ? value + 1 : value;
  return new Date(Math.round((days - 25_569) * MS_PER_DAY));
}

/** A serial day by a section with date tokens. */
export function formatDate(section: Section, value: number, date1904: boolean): string {
  const fraction = section.tokens.findIndex(
    (token, i) => token.kind === 'digits' && section.tokens[i - 1]?.kind === 'point',
  );
  const decimals = fraction >= 0 ? (section.tokens[fraction] as { text: string }).text.length : 0;
  const precision = 10 ** decimals;
  // What is not shown is rounded away first, so that 59.9999 seconds make a minute.
  const seconds = Math.round(value * 86_400 * precision) / precision;
  const date = serialDate(seconds / 86_400, date1904);
  if (Number.isNaN(date.getTime())) return generalNumber(value);
  const twelve = section.tokens.some((token) => token.kind === 'meridiem');
  const pad = (number: number, length: number) => String(number).padStart(length >= 2 ? 2 : 1, '0');
  let text = '';
  section.tokens.forEach((token, i) => {
    if (token.kind === 'literal') text += token.text;
    else if (token.kind === 'meridiem')
      text += token.text.length === 3 ? (date.getUTCHours() < 12 ? 'A' : 'P') : date.getUTCHours() < 12 ? 'AM' : 'PM';
    else if (token.kind === 'elapsed') {
      const whole = token.unit === 'h' ? seconds / 3600 : token.unit === 'm' ? seconds / 60 : seconds;
      text += String(Math.floor(whole + 1e-9)).padStart(token.length, '0');
    } else if (token.kind === 'date') {
      const month = date.getUTCMonth();
      switch (token.unit) {
        case 'y':
        case 'e':
          text +=
            token.length <= 2 && token.unit === 'y'
              ? pad(date.getUTCFullYear() % 100, 2)
              : String(date.getUTCFullYear());
          break;
        case 'm':
          text +=
            token.length === 5
              ? (MONTHS[month] ?? '').charAt(0)
              : token.length === 4
                ? MONTHS[month]
                : token.length === 3
                  ? MONTHS[month]?.slice(0, 3)
                  : pad(month + 1, token.length);
          break;
        case 'd':
          text +=
            token.length >= 4
              ? DAYS[date.getUTCDay()]
              : token.length === 3
                ? DAYS[date.getUTCDay()]?.slice(0, 3)
                : pad(date.getUTCDate(), token.length);
          break;
        case 'a':
          text += token.length >= 4 ? DAYS[date.getUTCDay()] : DAYS[date.getUTCDay()]?.slice(0, 3);
          break;
        case 'h':
          text += pad(twelve ? date.getUTCHours() % 12 || 12 : date.getUTCHours(), token.length);
          break;
        case 'n':
          text += pad(date.getUTCMinutes(), token.length);
          break;
        case 's':
          text += pad(date.getUTCSeconds(), token.length);
          break;
        default:
          break;
      }
    } else if (token.kind === 'point' && i === fraction - 1) text += '.';
    else if (token.kind === 'digits' && i === fraction)
      text += String(Math.round((((seconds % 1) + 1) % 1) * precision)).padStart(decimals, '0');
    else if (token.kind === 'point') text += '.';
    else if (token.kind === 'comma') text += ',';
    else if (token.kind === 'slash') text += '/';
  });
  return text.trim();
}
