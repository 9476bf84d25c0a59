// Defines the LaTeX of each mathematical character of Unicode and its spacing class, for all input formats.

/** The spacing classes of TeX (The TeXbook, chapter 17) and two more. */
export type AtomClass =
  | 'ordinary'
  | 'operator'
  | 'binary'
  | 'relation'
  | 'open'
  | 'close'
  | 'punctuation'
  /** A prime or a degree sign, which is a superscript of the atom before it. */
  | 'postfix'
  /** A space that the source shows. */
  | 'blank';

interface Sign {
  latex: string;
  class: AtomClass;
}

// Sources: the unicode-math table (CTAN, unicode-math-table.tex) and the operator dictionary of MathML Core, appendix B.
// The code point decides between two forms of a letter: U+03C6 is \varphi and U+03D5 is \phi, U+03B5 is \varepsilon and
// U+03F5 is \epsilon. All commands are defined by LaTeX, amsmath or amssymb, so U+2206 is \Delta and not \increment.
const COMMANDS: Readonly<Record<Exclude<AtomClass, 'blank'>, string>> = {
  ordinary: String.raw`
    α \alpha  β \beta  γ \gamma  δ \delta  ε \varepsilon  ϵ \epsilon  ζ \zeta  η \eta  θ \theta  ϑ \vartheta  ι \iota
    κ \kappa  ϰ \varkappa  λ \lambda  μ \mu  ν \nu  ξ \xi  π \pi  ϖ \varpi  ρ \rho  ϱ \varrho  σ \sigma
    ς \varsigma  τ \tau  υ \upsilon  φ \varphi  ϕ \phi  χ \chi  ψ \psi  ω \omega
    Γ \Gamma  Δ \Delta  Θ \Theta  Λ \Lambda  Ξ \Xi  Π \Pi  Σ \Sigma  Υ \Upsilon  Φ \Phi  Ψ \Psi
    Ω \Omega
    ∞ \infty  ∂ \partial  ∇ \nabla  ∀ \forall  ∃ \exists  ∄ \nexists  ¬ \neg  ∅ \emptyset  ∠ \angle  ⊤ \top  √ \surd
    ℓ \ell  ℏ \hbar  ℘ \wp  ℵ \aleph  ℜ \Re  ℑ \Im  ı \imath  ȷ \jmath  □ \square  ∎ \blacksquare  △ \triangle
    … \ldots  ⋯ \cdots  ⋮ \vdots  ⋱ \ddots  ‖ \|
    % \%  # \#  & \&  $ \$  _ \_  \ \backslash  ^ \text{\textasciicircum}`,
  operator: String.raw`
    ∑ \sum  ∏ \prod  ∐ \coprod  ∫ \int  ∬ \iint  ∭ \iiint  ∮ \oint  ⋃ \bigcup  ⋂ \bigcap  ⋁ \bigvee  ⋀ \bigwedge
    ⨁ \bigoplus  ⨂ \bigotimes  ⨀ \bigodot  ⨄ \biguplus  ⨆ \bigsqcup`,
  binary: String.raw`
    + +  - -  − -  * *  ± \pm  ∓ \mp  × \times  ÷ \div  ⋅ \cdot  · \cdot  ∗ \ast  ∘ \circ  ∙ \bullet  • \bullet
    ⋆ \star  ⋄ \diamond  ∧ \wedge  ∨ \vee  ∩ \cap  ∪ \cup  ⊓ \sqcap  ⊔ \sqcup  ⊎ \uplus  ∖ \setminus
    ⊕ \oplus  ⊖ \ominus  ⊗ \otimes  ⊘ \oslash  ⊙ \odot  † \dagger  ‡ \ddagger`,
  relation: String.raw`
    = =  < <  > >  : :  ~ \sim  ≔ :=  ≤ \leq  ≥ \geq  ⩽ \leqslant  ⩾ \geqslant  ≠ \neq  ≈ \approx  ≡ \equiv
    ∼ \sim  ≃ \simeq  ≅ \cong  ≍ \asymp  ≐ \doteq  ≜ \triangleq  ∝ \propto  ≪ \ll  ≫ \gg  ≲ \lesssim  ≳ \gtrsim
    ≺ \prec  ≻ \succ  ⪯ \preceq  ⪰ \succeq  ∈ \in  ∉ \notin  ∋ \ni  ⊂ \subset  ⊃ \supset  ⊆ \subseteq  ⊇ \supseteq
    ⊊ \subsetneq  ⊥ \perp  ⟂ \perp  ∥ \parallel  ∣ \mid  ∤ \nmid  ⊢ \vdash  ⊨ \models  ⊧ \models  ∴ \therefore
    ∵ \because  → \rightarrow  ← \leftarrow  ↔ \leftrightarrow  ⇒ \Rightarrow  ⇐ \Leftarrow  ⇔ \Leftrightarrow
    ↦ \mapsto  ↑ \uparrow  ↓ \downarrow  ↕ \updownarrow  ⇑ \Uparrow  ⇓ \Downarrow  ↗ \nearrow  ↘ \searrow  ↙ \swarrow
    ↖ \nwarrow  ↪ \hookrightarrow  ⇀ \rightharpoonup  ⇌ \rightleftharpoons  ⟶ \longrightarrow  ⟵ \longleftarrow
    ⟷ \longleftrightarrow  ⟹ \Longrightarrow  ⟸ \Longleftarrow  ⟺ \Longleftrightarrow  ⟼ \longmapsto`,
  open: String.raw`( (  [ [  { \{  ⟨ \langle  ⌊ \lfloor  ⌈ \lceil`,
  close: String.raw`) )  ] ]  } \}  ⟩ \rangle  ⌋ \rfloor  ⌉ \rceil`,
  punctuation: ', ,  ; ;',
  postfix: String.raw`' '  ′ '  ″ ''  ‴ '''  ⁗ ''''  ° ^{\circ}`,
};

const SIGNS = new Map<string, Sign>();
for (const [name, pairs] of Object.entries(COMMANDS) as [AtomClass, string][])
  for (const [, character = '', latex = ''] of pairs.matchAll(/(\S+) (\S+)/g))
    SIGNS.set(character, { latex, class: name });
/** Pairs of signs that look the same: micro and mu, increment and Delta, ohm and Omega, two kinds of angle brackets. */
for (const [twin, letter] of ['\u00b5\u03bc', '\u2206\u0394', '\u2126\u03a9', '\u3008\u27e8', '\u3009\u27e9'])
  SIGNS.set(twin as string, SIGNS.get(letter as string) as Sign);
for (const space of '\u00a0\u2002\u2003\u2004\u2005\u2006\u2009\u200a\u202f\u205f')
  SIGNS.set(space, { latex: '', class: 'blank' });
// Function application, invisible times and others have no LaTeX.
for (const invisible of '\u200b\u200c\u200d\u2060\u2061\u2062\u2063\u2064\ufeff')
  SIGNS.set(invisible, { latex: '', class: 'ordinary' });

/** The sign of one character; undefined if LaTeX writes the character unchanged. */
export function signOf(character: string): Sign | undefined {
  return SIGNS.get(character);
}

/** Functions whose limits are below and above them. */
const LIMIT_FUNCTIONS = new Set('det gcd inf lim liminf limsup max min Pr sup argmax argmin'.split(' '));
/** The functions that LaTeX and amsmath have a command for. */
const FUNCTIONS = new Set(
  `arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf ker lg lim liminf limsup ln log max min Pr
   sec sin sinh sup tan tanh`.split(/\s+/),
);

/** The command of a function, such as `\sin`; undefined if LaTeX has none. */
export function functionCommand(name: string): string | undefined {
  if (FUNCTIONS.has(name)) return `\\${name}`;
  return LIMIT_FUNCTIONS.has(name) ? `\\operatorname*{${name}}` : undefined;
}

/** Whether a sign or a function has limits below and above it, as sums and `lim` have. */
export function takesLimits(text: string): boolean {
  return LIMIT_FUNCTIONS.has(text) || SIGNS.get(text)?.class === 'operator';
}

export type Alphabet = 'mathrm' | 'mathbf' | 'boldsymbol' | 'mathcal' | 'mathfrak' | 'mathbb' | 'mathsf' | 'mathtt';

/** The mathematical alphabets of Unicode (U+1D400 to U+1D7FF): the first code point of each and its LaTeX command. Italics have none. */
const ALPHABETS: readonly (readonly [start: number, alphabet: Alphabet | undefined])[] = [
  [0x1d400, 'mathbf'],
  [0x1d434, undefined],
  [0x1d468, 'boldsymbol'],
  [0x1d49c, 'mathcal'],
  [0x1d504, 'mathfrak'],
  [0x1d538, 'mathbb'],
  [0x1d56c, 'mathfrak'],
  [0x1d5a0, 'mathsf'],
  [0x1d670, 'mathtt'],
  [0x1d6a4, undefined],
  [0x1d6a8, 'boldsymbol'],
  [0x1d6e2, undefined],
  [0x1d71c, 'boldsymbol'],
  [0x1d7ce, 'mathbf'],
  [0x1d7d8, 'mathbb'],
  [0x1d7e2, 'mathsf'],
  [0x1d7f6, 'mathtt'],
  [0x1d800, undefined],
];
/** Letters of these alphabets that are in the block of letterlike symbols (U+2100 to U+214F). */
const LETTERLIKE: readonly (readonly [letters: string, alphabet: Alphabet | undefined])[] = [
  ['ℂℍℕℙℚℝℤ', 'mathbb'],
  ['ℬℰℱℋℐℒℳℛℯℊℴ', 'mathcal'],
  ['ℭℌℨ', 'mathfrak'],
  ['ℎⅅⅆⅇⅈⅉ', undefined],
];

/** The plain letter and the alphabet of a mathematical letter; undefined for any other character. */
export function alphabetLetter(character: string): { letter: string; alphabet: Alphabet | undefined } | undefined {
  const code = character.codePointAt(0) ?? 0;
  const letterlike = LETTERLIKE.find(([letters]) => letters.includes(character));
  if (letterlike) return { letter: character.normalize('NFKC'), alphabet: letterlike[1] };
  if (code < 0x1d400 || code > 0x1d7ff) return undefined;
  return { letter: character.normalize('NFKC'), alphabet: ALPHABETS.findLast(([start]) => start <= code)?.[1] };
}

interface AccentCommand {
  /** The command for a body of one sign. */
  narrow: string;
  /** The command for a body of several signs. */
  wide: string;
  /** A part above or below it is a label, as for braces. */
  label: boolean;
}

/** The combining form of each mark, then the spacing forms that MathML and Office use. */
const ACCENTS: readonly (readonly [position: 'above' | 'below', marks: string, narrow: string, wide: string])[] = [
  ['above', '\u0300\u0060', '\\grave', '\\grave'],
  ['above', '\u0301\u00b4', '\\acute', '\\acute'],
  ['above', '\u0302\u02c6^', '\\hat', '\\widehat'],
  ['above', '\u0303\u02dc~', '\\tilde', '\\widetilde'],
  ['above', '\u0304\u00af\u02c9', '\\bar', '\\overline'],
  ['above', '\u0305\u203e', '\\overline', '\\overline'],
  ['above', '\u0306\u02d8', '\\breve', '\\breve'],
  ['above', '\u0307\u02d9', '\\dot', '\\dot'],
  ['above', '\u0308\u00a8', '\\ddot', '\\ddot'],
  ['above', '\u030a\u02da', '\\mathring', '\\mathring'],
  ['above', '\u030c\u02c7', '\\check', '\\check'],
  ['above', '\u20db', '\\dddot', '\\dddot'],
  ['above', '\u20dc', '\\ddddot', '\\ddddot'],
  ['above', '\u20d6\u2190', '\\overleftarrow', '\\overleftarrow'],
  ['above', '\u20d7\u2192', '\\vec', '\\overrightarrow'],
  ['above', '\u20e1\u2194', '\\overleftrightarrow', '\\overleftrightarrow'],
  ['above', '\u23de', '\\overbrace', '\\overbrace'],
  ['below', '\u0331\u0332\u00af\u203e_', '\\underline', '\\underline'],
  ['below', '\u23df', '\\underbrace', '\\underbrace'],
];
const ACCENT_COMMANDS = { above: new Map<string, AccentCommand>(), below: new Map<string, AccentCommand>() };
for (const [position, marks, narrow, wide] of ACCENTS)
  for (const mark of marks) ACCENT_COMMANDS[position].set(mark, { narrow, wide, label: narrow.endsWith('brace') });

/** The accent command of a mark in its combining or spacing form; undefined if LaTeX has none. */
export function accentCommand(mark: string, position: 'above' | 'below'): AccentCommand | undefined {
  return ACCENT_COMMANDS[position].get(mark);
}
