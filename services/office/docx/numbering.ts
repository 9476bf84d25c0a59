// Counts list items as Word does, because the file has the definition of each list but not the numbers (ECMA-376-1, 17.9).
import { childElement, childElements, type XmlElement } from '#shared/readers/xml.ts';
import type { ListPosition } from '../flow.ts';
import { settingOf } from './styles.ts';

interface Level {
  format: string;
  start: number;
  /** The text around the number, such as `%1.`; '' if the level shows nothing. */
  text: string;
}

const LEVELS = 9;

export class Numbering {
  /** The abstract list and the levels of each `numId`. */
  #lists = new Map<string, { abstract: string; levels: Level[] }>();
  #counters = new Map<string, number[]>();
  #started = new Set<string>();
  #overrides = new Map<string, Map<number, number>>();

  constructor(numbering: XmlElement | undefined) {
    if (!numbering) return;
    const abstracts = new Map<string, XmlElement>();
    const byStyle = new Map<string, XmlElement>();
    for (const abstract of childElements(numbering, 'abstractNum')) {
      abstracts.set(abstract.attributes['w:abstractNumId'] ?? '', abstract);
      const style = settingOf(abstract, 'styleLink');
      if (style !== undefined) byStyle.set(style, abstract);
    }
    for (const num of childElements(numbering, 'num')) {
      const id = num.attributes['w:numId'];
      const abstractId = settingOf(num, 'abstractNumId');
      if (id === undefined || abstractId === undefined) continue;
      const own = abstracts.get(abstractId);
      const linked = byStyle.get(settingOf(own, 'numStyleLink') ?? '');
      const levels = this.#levels(linked ?? own);
      const restarts = new Map<number, number>();
      for (const override of childElements(num, 'lvlOverride')) {
        const level = Number(override.attributes['w:ilvl']);
        if (!(level >= 0 && level < LEVELS)) continue;
        const inside = childElement(override, 'lvl');
        if (inside) levels[level] = readLevel(inside);
        const start = settingOf(override, 'startOverride');
        if (start !== undefined) restarts.set(level, Number(start) || 0);
      }
      if (restarts.size > 0) this.#overrides.set(id, restarts);
      this.#lists.set(id, { abstract: abstractId, levels });
    }
  }

  #levels(abstract: XmlElement | undefined): Level[] {
    const levels: Level[] = [];
    for (const element of abstract ? childElements(abstract, 'lvl') : []) {
      const index = Number(element.attributes['w:ilvl']);
      if (index >= 0 && index < LEVELS) levels[index] = readLevel(element);
    }
    return levels;
  }

  /** Counts one paragraph of a list and returns its position; undefined if it shows neither a number nor a bullet. */
  next(id: string, level: number): ListPosition | undefined {
    const list = this.#lists.get(id);
    const at = Math.min(Math.max(level, 0), LEVELS - 1);
    const definition = list?.levels[at];
    if (!list || !definition) return undefined;
    const counters = this.#counters.get(list.abstract) ?? [];
    this.#counters.set(list.abstract, counters);
    if (!this.#started.has(id)) {
      this.#started.add(id);
      for (const [restarted, start] of this.#overrides.get(id) ?? []) counters[restarted] = start - 1;
    }
    const number = (counters[at] ?? definition.start - 1) + 1;
    counters[at] = number;
    counters.length = at + 1;
    if (definition.format === 'none' && definition.text === '') return undefined;
    const ordered = definition.format !== 'bullet' && definition.format !== 'none';
    return { level: at, ordered, list: list.abstract, ...(ordered ? { number } : {}) };
  }
}

function readLevel(element: XmlElement): Level {
  return {
    format: settingOf(element, 'numFmt') ?? 'decimal',
    start: Number(settingOf(element, 'start') ?? '1') || 0,
    text: settingOf(element, 'lvlText') ?? '',
  };
}
