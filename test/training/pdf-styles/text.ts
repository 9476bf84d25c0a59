// Makes random text in several languages, so that no document for training repeats a text that somebody wrote.
import type { Random } from '#test/fuzz/random.ts';

/** Words of each language: frequent small words first, then nouns, verbs and adjectives. Their order in a text means nothing. */
const VOCABULARIES = {
  en: [
    'the of and a in to is was for on that with as by at from are it this which',
    'harbour keeper storm lamp rope tide ledger anchor bridge market valley engine record measure report winter village teacher signal garden method district window traffic supply budget river letter carries opens holds shows follows keeps broad early quiet local former narrow annual public between without because toward responsibility organisation infrastructure',
  ],
  de: [
    'der die das und in zu den mit von für auf ist im nicht ein eine als auch dem wird',
    'Hafen Brücke Lampe Winter Bericht Verfahren Gebäude Straße Messung Garten Wasser Lehrer Markt Brief Fenster öffnet zeigt führt bleibt trägt früh schmal örtlich jährlich öffentlich Zuständigkeit Verwaltungsgebühr Grundstücksfläche ohne zwischen gegenüber Tätigkeit Prüfung Maß',
  ],
  fr: [
    'le la les de des et en un une du pour que dans par sur au est avec ce se',
    'port pont lampe hiver rapport méthode bâtiment rue mesure jardin rivière marché lettre fenêtre ouvre montre suit reste porte ancien étroit local annuel public entre sans élève côté préfecture responsabilité développement trésor où août reçu',
  ],
  es: [
    'el la los las de del y en un una por para que con se al es su como más',
    'puerto puente lámpara invierno informe método edificio calle medición jardín río mercado carta ventana abre muestra sigue queda lleva antiguo estrecho local anual público entre sin niño año señal administración responsabilidad también según',
  ],
  pl: [
    'w i na z do się że nie to jest o jak po od za przez dla ale są oraz',
    'port most lampa zima raport metoda budynek ulica pomiar ogród rzeka rynek list okno otwiera pokazuje wynosi zostaje dawny wąski miejscowy roczny publiczny między bez źródło gospodarka odpowiedzialność przedsiębiorstwo również część łącznie',
  ],
  ru: [
    'в и на с по не что для как от из при это его за но до или также',
    'порт мост лампа зима отчёт метод здание улица измерение сад река рынок письмо окно открывает показывает следует остаётся прежний узкий местный годовой общий между без источник хозяйство ответственность предприятие часть объём подъезд',
  ],
  el: [
    'και το της να του η με για την που από τα στο είναι των ο σε οι μια',
    'λιμάνι γέφυρα λάμπα χειμώνας έκθεση μέθοδος κτίριο δρόμος μέτρηση κήπος ποτάμι αγορά γράμμα παράθυρο ανοίγει δείχνει ακολουθεί μένει παλιός στενός τοπικός ετήσιος δημόσιος μεταξύ χωρίς πηγή ευθύνη επιχείρηση μέρος',
  ],
} as const;

type Language = keyof typeof VOCABULARIES;
export const LANGUAGES = Object.keys(VOCABULARIES) as Language[];

const NAMES = 'Ada Boris Clara Dario Elin Farid Greta Hugo Ines Jonas Katya Leon Mira Nils Olga Pavel'.split(' ');
const FAMILIES = 'Alder Brandt Cole Dupont Eriksen Farrow Grant Hollis Ivanov Jansen Keller Lindt Moreau Novak'.split(
  ' ',
);
/** Words shorter than this are not hyphenated. */
const SHORTEST_HYPHENATED_WORD = 7;

export const NUMBER_KINDS = ['integer', 'thousands', 'decimal', 'percent', 'money', 'signed', 'range', 'year'] as const;
export type NumberKind = (typeof NUMBER_KINDS)[number];

/** Writes words, sentences, titles, names and numbers in one language. */
export class Author {
  readonly random: Random;
  readonly language: Language;
  readonly #small: readonly string[];
  readonly #large: readonly string[];
  readonly #titles = new Set<string>();

  constructor(random: Random, language: Language) {
    this.random = random;
    this.language = language;
    [this.#small, this.#large] = VOCABULARIES[language].map((words) => words.split(' ')) as [string[], string[]];
  }

  /** An integer from `least` to `most`. */
  between(least: number, most: number): number {
    return least + this.random.below(most - least + 1);
  }

  word(): string {
    return this.random.pick(this.#large);
  }

  words(count: number): string {
    return Array.from({ length: count }, (_, at) =>
      at > 0 && at < count - 1 && this.random.below(5) < 2 ? this.random.pick(this.#small) : this.word(),
    ).join(' ');
  }

  /** A few words with a capital at the start, as in a cell. */
  phrase(least: number, most: number): string {
    return capitalised(this.words(this.between(least, most)));
  }

  sentence(): string {
    const words = this.words(this.between(5, 19)).split(' ');
    if (words.length > 9) words[this.between(3, 6)] += ',';
    if (this.random.oneIn(8)) words.splice(2, 0, String(this.between(2, 1990)));
    return `${capitalised(words.join(' '))}${this.random.pick(['.', '.', '.', '.', '.', '?', ';'])}`.replace(/;$/, '.');
  }

  paragraph(sentences = this.between(2, 6)): string {
    return Array.from({ length: sentences }, () => this.sentence()).join(' ');
  }

  /** A title that this author has not used before. */
  title(everyWord: boolean, most = 6): string {
    for (let longest = most; ; longest++) {
      const words = this.words(this.between(1, longest));
      const title = everyWord ? words.split(' ').map(capitalised).join(' ') : capitalised(words);
      if (this.#titles.has(title.toLowerCase())) continue;
      this.#titles.add(title.toLowerCase());
      return title;
    }
  }

  name(): string {
    return `${this.random.pick(NAMES)} ${this.random.pick(FAMILIES)}`;
  }

  date(): string {
    const [day, month, year] = [this.between(1, 28), this.between(1, 12), this.between(1990, 2029)];
    const two = (value: number) => String(value).padStart(2, '0');
    return this.random.pick([`${year}-${two(month)}-${two(day)}`, `${two(day)}.${two(month)}.${year}`]);
  }

  number(kind: NumberKind): string {
    const { random } = this;
    const grouped = (value: number) => value.toLocaleString('en-US');
    switch (kind) {
      case 'integer':
        return String(random.below(1000));
      case 'thousands':
        return grouped(random.below(random.pick([900, 90_000, 9_000_000])));
      case 'decimal':
        return (random.below(90_000) / 100).toFixed(random.pick([1, 2, 2]));
      case 'percent':
        return `${(random.below(1000) / 10).toFixed(1)}%`;
      case 'money':
        return `${random.pick(['€', '$', ''])}${grouped(random.below(90_000))}.${String(random.below(100)).padStart(2, '0')}`;
      case 'signed':
        return random.oneIn(3) ? `(${random.below(900)})` : `${random.oneIn(3) ? '-' : ''}${random.below(9000) / 10}`;
      case 'range':
        return `${random.below(50)}–${50 + random.below(50)}`;
      case 'year':
        return String(this.between(1950, 2030));
    }
  }
}

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Puts soft hyphens into long words. The truth has none. */
export function hyphenated(text: string): string {
  return text.replace(/\p{L}+/gu, (word) =>
    word.length < SHORTEST_HYPHENATED_WORD
      ? word
      : word.replace(/(?<=^.{3,})([aeiouyäöüéаеиоуαειοη])(?=[^aeiouyаеиоуαειοη].{2,})/gu, '$1\u00ad'),
  );
}

const ROMAN: readonly (readonly [number, string])[] = [
  [10, 'X'],
  [9, 'IX'],
  [5, 'V'],
  [4, 'IV'],
  [1, 'I'],
];

/** A number below 40 in Roman digits. */
export function roman(number: number): string {
  const [value, digits] = ROMAN.find(([least]) => least <= number) ?? [0, ''];
  return value === 0 ? '' : digits + roman(number - value);
}

export const letter = (number: number): string => String.fromCharCode(64 + number);
