// Draws one random document from a seed: its content, its style and what was drawn.
import { createRandom } from '#test/fuzz/random.ts';
import { composeDocument, KINDS } from './content.ts';
import { Typesetter } from './flows.ts';
import type { RandomDocument } from './model.ts';
import { drawStyle } from './style.ts';
import { Author, LANGUAGES } from './text.ts';

export function drawDocument(seed: number, index: number): RandomDocument {
  const random = createRandom(seed, index);
  const kind = random.pick(KINDS);
  const author = new Author(random, random.oneIn(2) ? 'en' : random.pick(LANGUAGES));
  const style = drawStyle(author, kind);
  const { blocks, designs } = composeDocument(author, style, kind);
  const typesetter = new Typesetter(author, style);
  const flows = typesetter.typeset(blocks);
  const used = (test: (level: number) => boolean) =>
    blocks.some((block) => block.kind === 'heading' && test(block.level));
  return {
    name: `s${seed}-${String(index).padStart(4, '0')}`,
    page: style.page,
    blocks,
    flows,
    tags: {
      kind,
      language: author.language,
      page: style.pageName,
      columns: style.columns,
      font: style.page.font,
      size: style.page.size,
      justified: style.justified,
      paragraphs: style.paragraphs,
      numbering: used((level) => level > 1) ? style.numbering : 'no headings',
      captions: style.captions,
      headings: style.headings.filter((_, at) => used((level) => level === at + 1)).map(({ name }) => name),
      features: [...new Set([...blocks.map((block) => block.kind), ...typesetter.tags])],
      tables: designs.length,
      table_design: [...new Set(designs.map(({ name }) => name))],
    },
  };
}
