// Inserts mutants into a source file: changes of conditions, filters and constants that can be activated at run time.
import { stripTypeScriptTypes } from 'node:module';
import type { AnyNode, Expression } from 'acorn';
import { parse } from 'acorn';
import { ancestor } from 'acorn-walk';

/** One change of the code. */
export interface Mutant {
  /** Unique over all files of a run. */
  id: number;
  file: string;
  /** 1-based. */
  line: number;
  /** The new value: `true`, `false`, `everything`, `*1.5` or `*0.67`. */
  change: string;
  /** The code that is changed. */
  code: string;
}

interface MutatedFile {
  /** JavaScript that calls the global function `isMutantActive(id)` for each mutant. */
  source: string;
  mutants: Mutant[];
}

interface Insertion {
  at: number;
  text: string;
  opens: boolean;
  length: number;
  id: number;
}

const MAX_CODE_LENGTH = 110;

/**
 * Creates the mutants of a file: each operand of `&&` and `||` is removed, each condition is false (in a conditional expression also
 * true), each filter keeps everything. With `constants`, each named number at the top of the file is multiplied by 1.5 and by 0.67.
 * Code that runs while the file is loaded is not changed.
 */
export function createMutants(file: string, text: string, firstId: number, constants = false): MutatedFile {
  const stripped = stripTypeScriptTypes(text, { mode: 'strip' });
  const program = parse(stripped, { ecmaVersion: 'latest', sourceType: 'module', locations: true });
  const numbers = new Set<string>();
  for (const statement of program.body)
    if (statement.type === 'VariableDeclaration')
      for (const { id, init } of statement.declarations)
        if (id.type === 'Identifier' && init?.type === 'Literal' && typeof init.value === 'number')
          numbers.add(id.name);

  const mutants: Mutant[] = [];
  const insertions: Insertion[] = [];
  const add = (node: AnyNode, change: string, before: (id: number) => string, after: string): void => {
    const id = firstId + mutants.length;
    const code = stripped.slice(node.start, node.end).replace(/\s+/g, ' ').slice(0, MAX_CODE_LENGTH);
    mutants.push({ id, file, line: node.loc?.start.line ?? 0, change, code });
    const length = node.end - node.start;
    insertions.push({ at: node.start, text: before(id), opens: true, length, id });
    insertions.push({ at: node.end, text: after, opens: false, length, id });
  };
  const replaceWith = (node: AnyNode, value: 'true' | 'false'): void =>
    add(node, value, (id) => `(isMutantActive(${id})?${value}:(`, '))');

  ancestor(program, {
    LogicalExpression(node, _state, ancestors) {
      // `size || 10` is a default value, not a condition.
      if (node.operator === '??' || node.right.type === 'Literal' || !insideFunction(ancestors)) return;
      for (const side of [node.left, node.right])
        if (!isLogical(side, node.operator)) replaceWith(side, node.operator === '&&' ? 'true' : 'false');
    },
    IfStatement(node, _state, ancestors) {
      // An `||` is covered by the mutants of its operands.
      if (insideFunction(ancestors) && !isLogical(node.test, '||')) replaceWith(node.test, 'false');
    },
    ConditionalExpression(node, _state, ancestors) {
      if (!insideFunction(ancestors)) return;
      replaceWith(node.test, 'true');
      replaceWith(node.test, 'false');
    },
    CallExpression(node, _state, ancestors) {
      const [predicate] = node.arguments;
      const callee = node.callee;
      if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier' || !predicate) return;
      if (callee.property.name !== 'filter' || !insideFunction(ancestors)) return;
      add(predicate, 'everything', (id) => `(isMutantActive(${id})?()=>true:(`, '))');
    },
    Identifier(node, _state, ancestors) {
      if (!constants || !numbers.has(node.name) || !insideFunction(ancestors)) return;
      for (const factor of ['*1.5', '*0.67'])
        add(node, factor, (id) => `(isMutantActive(${id})?${node.name}${factor}:`, ')');
    },
  });
  return { source: applyInsertions(stripped, insertions), mutants };
}

const isLogical = (node: Expression, operator: string): boolean =>
  node.type === 'LogicalExpression' && node.operator === operator;

const insideFunction = (ancestors: readonly AnyNode[]): boolean =>
  ancestors.some((node) => node.type.includes('Function'));

/** At one position, closing text comes before opening text. Inner mutants close first, outer mutants open first. */
function applyInsertions(text: string, insertions: Insertion[]): string {
  insertions.sort((a, b) => {
    if (a.at !== b.at) return a.at - b.at;
    if (a.opens !== b.opens) return a.opens ? 1 : -1;
    return a.opens ? b.length - a.length || a.id - b.id : a.length - b.length || b.id - a.id;
  });
  let at = 0;
  let out = '';
  for (const insertion of insertions) {
    out += text.slice(at, insertion.at) + insertion.text;
    at = insertion.at;
  }
  return out + text.slice(at);
}
