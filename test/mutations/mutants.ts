// Finds the conditions of a source file and makes each of them one that can be switched off while the code runs, so that a test can be asked whether it notices.
import { stripTypeScriptTypes } from 'node:module';
import type { AnyNode, Expression } from 'acorn';
import { parse } from 'acorn';
import { ancestor } from 'acorn-walk';

/** One small change of the code. */
export interface Mutant {
  /** Unique over all files of a run: what the guard in the code asks for. */
  id: number;
  file: string;
  /** From 1. */
  line: number;
  /** What becomes of it. */
  change: string;
  /** The code that it changes. */
  code: string;
}

export interface MutatedFile {
  /** JavaScript in which `mutant(id)`, a function that must be global, tells whether a mutant is switched on. */
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

const CODE_SHOWN = 110;

/**
 * The mutants of a file: each operand of `&&` and `||` left out, each condition never (and, of a choice, always) true,
 * each filter letting everything through; with `constants`, each number that stands by its name at the head of the
 * file half as large again, and two thirds as large. What runs while the file is loaded stays as it is.
 */
export function mutate(file: string, text: string, firstId: number, constants = false): MutatedFile {
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
    const code = stripped.slice(node.start, node.end).replace(/\s+/g, ' ').slice(0, CODE_SHOWN);
    mutants.push({ id, file, line: node.loc?.start.line ?? 0, change, code });
    const length = node.end - node.start;
    insertions.push({ at: node.start, text: before(id), opens: true, length, id });
    insertions.push({ at: node.end, text: after, opens: false, length, id });
  };
  const become = (node: AnyNode, value: 'true' | 'false'): void =>
    add(node, value, (id) => `(mutant(${id})?${value}:(`, '))');

  ancestor(program, {
    LogicalExpression(node, _state, ancestors) {
      // `size || 10` chooses a value and no way.
      if (node.operator === '??' || node.right.type === 'Literal' || !insideFunction(ancestors)) return;
      for (const side of [node.left, node.right])
        if (!isLogical(side, node.operator)) become(side, node.operator === '&&' ? 'true' : 'false');
    },
    IfStatement(node, _state, ancestors) {
      // Whoever misses one operand of an `||` misses it whole.
      if (insideFunction(ancestors) && !isLogical(node.test, '||')) become(node.test, 'false');
    },
    ConditionalExpression(node, _state, ancestors) {
      if (!insideFunction(ancestors)) return;
      become(node.test, 'true');
      become(node.test, 'false');
    },
    CallExpression(node, _state, ancestors) {
      const [chosen] = node.arguments;
      const callee = node.callee;
      if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier' || !chosen) return;
      if (callee.property.name !== 'filter' || !insideFunction(ancestors)) return;
      add(chosen, 'everything', (id) => `(mutant(${id})?()=>true:(`, '))');
    },
    Identifier(node, _state, ancestors) {
      if (!constants || !numbers.has(node.name) || !insideFunction(ancestors)) return;
      for (const factor of ['*1.5', '*0.67']) add(node, factor, (id) => `(mutant(${id})?${node.name}${factor}:`, ')');
    },
  });
  return { source: insert(stripped, insertions), mutants };
}

const isLogical = (node: Expression, operator: string): boolean =>
  node.type === 'LogicalExpression' && node.operator === operator;

const insideFunction = (ancestors: readonly AnyNode[]): boolean =>
  ancestors.some((node) => node.type.includes('Function'));

/** At one place what ends goes before what begins, the inner of what ends first and the outer of what begins. */
function insert(text: string, insertions: Insertion[]): string {
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
