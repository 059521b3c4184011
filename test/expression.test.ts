import { describe, expect, test } from 'vitest';
import {
  checkExpression,
  evaluate,
  evaluateCondition,
  ExpressionError,
  mentionsEach,
  parseTemplate,
  references,
  render,
  usesAlways,
  type ExpressionScope,
} from '../src/schedule/expression/expression.ts';

const scope: ExpressionScope = {
  tasks: {
    design: { state: 'done', output: { count: 3, share: 1.5, title: 'Calc', tags: ['a', 'b'], none: null } },
    review: { state: 'done', outputs: [{ verdict: 'accept' }, { verdict: 'reject' }] },
    'my-task': { state: 'done', output: 'x' },
  },
  inputs: { who: 'Ada', times: 2 },
  each: 'speed',
  index: 1,
  run: { id: 'r1', name: 'calculator' },
};

function failure(text: string, how: (text: string, scope: ExpressionScope) => unknown = evaluate): string {
  try {
    how(text, scope);
  } catch (error) {
    expect(error).toBeInstanceOf(ExpressionError);
    return (error as Error).message;
  }
  throw new Error(`${text} did not fail`);
}

describe('values', () => {
  test.each<[string, unknown]>([
    ['tasks.design.output.count > 2', true],
    ['tasks.design.output.count == 3', true],
    ['tasks.design.output.count == 3.0', true],
    ['tasks.design.output.count + 1', 4],
    ['tasks.design.output.count * 1.5', 4.5],
    ['tasks.design.output.share + 1', 2.5],
    ['tasks.design.output.count % 2', 1],
    ['tasks.design.output.tags[index]', 'b'],
    ['inputs.times * 2', 4],
    ['size(tasks.review.outputs)', 2],
    ["tasks.review.outputs.exists(o, o.verdict == 'reject')", true],
    ['tasks.review.outputs.map(o, o.verdict)', ['accept', 'reject']],
    ["tasks['my-task'].output", 'x'],
    ['has(tasks.design.output.missing)', false],
    ["tasks.design.output.?missing.orValue('none')", 'none'],
    ['{"a": {"b": 1}}', { a: { b: 1 } }],
    ['[1, "a", null]', [1, 'a', null]],
    ['7u', 7],
    ['tasks.design.output', scope.tasks['design']!['output']],
    ['run.name', 'calculator'],
  ])('%s', (expression, value) => {
    expect(evaluate(expression, scope)).toEqual(value);
    expect(evaluate(`\${{ ${expression} }}`, scope)).toEqual(value);
  });

  test.each<[string, unknown]>([
    ['apis.x.value', JSON.parse('{ "constructor": { "__proto__": 1 }, "__proto__": { "a": 1 }, "b": [2] }')],
    ['apis.x.value.b', [2]],
    ['apis.x.value.constructor.__proto__', 1],
    ['apis.x.value.__proto__.a', 1],
    ["apis.x.value == {'b': [2]}", false],
    ['size(apis.x.value)', 3],
    ['apis.x.value.map(key, key)', ['constructor', '__proto__', 'b']],
    ['has(apis.x.value.toString)', false],
    ['tasks.constructor.state', 'done'],
  ])('%s of what has fields that mean something to JavaScript', (expression, value) => {
    const given = JSON.parse('{ "constructor": { "__proto__": 1 }, "__proto__": { "a": 1 }, "b": [2] }');
    const tasks = { constructor: { state: 'done' } } as unknown as ExpressionScope['tasks'];
    expect(evaluate(expression, { ...scope, tasks, apis: { x: { value: given } } })).toEqual(value);
  });

  test('what has a field "constructor" costs as much as what has not', () => {
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`k${n}`, n]));
    const given = { x: { value: { ...many, constructor: 1 } } };
    const nested = 'apis.x.value.map(a, apis.x.value.map(b, apis.x.value.exists(c, c == a + b)))';
    expect(() => evaluate(nested, { ...scope, apis: given })).toThrow(/takes too many steps/);
  });

  test('always() is true, and failed() is what the scope says', () => {
    expect(evaluateCondition('always()', scope)).toBe(true);
    expect(evaluateCondition('failed()', scope)).toBe(false);
    expect(evaluateCondition('failed()', { ...scope, failed: true })).toBe(true);
  });
});

describe('templates', () => {
  test('text goes in as it is, nothing as nothing, and the rest as JSON', () => {
    const text =
      'Hi ${{ inputs.who }}: ${{ tasks.design.output.tags }} ${{ inputs.times }}${{ tasks.design.output.none }}.';
    expect(render(text, scope)).toBe('Hi Ada: ["a","b"] 2.');
  });

  test('what an expression gives is not read as an expression again', () => {
    const hostile = { ...scope, inputs: { who: '${{ run.id }}' } };
    expect(render('${{ inputs.who }}', hostile)).toBe('${{ run.id }}');
  });

  test('braces in strings and maps do not end an expression', () => {
    expect(render(`\${{ '}}' }} \${{ {"a": {"b": "}}"}} }}`, scope)).toBe('}} {"a":{"b":"}}"}}');
    expect(render(String.raw`${'$'}{{ "\"}}" }} ${'$'}{{ r'\d}}' }} ${'$'}{{ """a"}}""" }}`, scope)).toBe(
      '"}} \\d}} a"}}',
    );
  });

  test('the parts of a text are told apart', () => {
    expect(parseTemplate('a ${{ run.id }}')).toEqual([
      { kind: 'text', text: 'a ' },
      { kind: 'expression', expression: 'run.id' },
    ]);
  });

  test('text without expressions stays what it is', () => {
    expect(render('a $x {{ y }} }}', scope)).toBe('a $x {{ y }} }}');
  });
});

describe('failures say what went wrong and what there is', () => {
  test.each([
    [
      'tasks.design.ouput',
      'expression "tasks.design.ouput": tasks.design has no "ouput"; did you mean "output"?',
    ],
    ['tasks.design.xyz', 'expression "tasks.design.xyz": tasks.design has no "xyz"; it has: state, output'],
    [
      'tasks.design.output.none.x',
      'expression "tasks.design.output.none.x": tasks.design.output.none has no "x", because it is nothing',
    ],
    [
      "tasks['my-task'].output.x",
      `expression "tasks['my-task'].output.x": tasks['my-task'].output has no "x", because it is text`,
    ],
    [
      'tasks.review.outputs.exists(o, o.x == 1)',
      'expression "tasks.review.outputs.exists(o, o.x == 1)": there is no "x"; test for it with has(…)',
    ],
    [
      'tasks.review.outputs[9]',
      'expression "tasks.review.outputs[9]": index out of bounds, index 9 >= size 2',
    ],
    [
      'tasks.my-task.output',
      `expression "tasks.my-task.output": "-" means minus here; write tasks['my-task'] for a name with "-" in it`,
    ],
    ['input.who', 'expression "input.who": unknown name "input"; did you mean "inputs"?'],
    [
      'inputs.who + 1',
      'expression "inputs.who + 1": cannot compute string + int; convert one side with string(…), int(…) or double(…)',
    ],
    ['1 / 0', 'expression "1 / 0": division by zero'],
    ['1 +', 'expression "1 +": the expression ends too early'],
    ['fetch("http://x")', `expression "fetch("http://x")": there is no function 'fetch(string)'`],
    [
      'tasks.constructor',
      'expression "tasks.constructor": tasks has no "constructor"; it has: design, review, my-task',
    ],
    ['double("NaN")', 'expression "double("NaN")": the result is NaN, which is not a JSON number'],
  ])('%s', (expression, message) => expect(failure(expression)).toBe(message));

  test('a condition must be true or false', () => {
    expect(failure('inputs.who', evaluateCondition)).toBe(
      `expression "inputs.who" must be true or false, but is text; compare it with something, as in x == 'yes'`,
    );
    expect(failure('${{ true }} && ${{ false }}', evaluateCondition)).toContain('mixes text and expressions');
  });

  test('each outside a for-each is told', () => {
    const { each: _, index: __, ...rest } = scope;
    expect(() => evaluate('each', rest)).toThrow(
      'there is no "each" here; it exists in a task with for-each',
    );
  });

  test('an unclosed expression is told', () => {
    expect(failure('a ${{ run.id', render)).toBe('"${{" is never closed; add "}}" after the expression');
  });
});

describe('limits', () => {
  test('an expression is bounded in length, depth and loops', () => {
    expect(failure(`'${'x'.repeat(10_000)}'`)).toContain('is longer than 10000 characters');
    expect(failure(`${'('.repeat(500)}1${')'.repeat(500)}`)).toContain('too large or too deep');
    const loops = '[1].map(a, [1].map(b, [1].map(c, [1].map(d, d))))';
    expect(failure(loops)).toContain('more than 3 loops');
  });

  test('a pattern takes linear time, or is refused', () => {
    expect(failure('inputs.who.matches("(?=a)b")')).toContain('has a look-around');
    const long = { ...scope, inputs: { who: `${'a'.repeat(30)}!` } };
    expect(evaluate('inputs.who.matches("^(a+)+$")', long)).toBe(false);
    expect(failure('inputs.who.matches(inputs.who)')).toContain('must be written out as text');
    expect(evaluate('inputs.who.matches("^A(d|x)a$")', scope)).toBe(true);
  });

  test('a result that is too large is refused', () => {
    const large = { ...scope, inputs: { big: 'x'.repeat(3 * 1024 * 1024) } };
    expect(() => evaluate('[inputs.big, inputs.big]', large)).toThrow('more than 4194304 characters');
    expect(() => render('${{ inputs.big }}${{ inputs.big }}', large)).toThrow(
      'longer than 4194304 characters',
    );
  });
});

test('what an expression speaks of is known without running it', () => {
  const found = references(
    `tasks.a.output == inputs.b && tasks['c-d'].x.exists(each, each.tasks.z) && always()`,
  );
  expect([...found.tasks]).toEqual(['a', 'c-d']);
  expect([...found.inputs]).toEqual(['b']);
  expect(found).toMatchObject({ each: false, always: true, every: false });
  expect(references('size(tasks) > 1').every).toBe(true);
  expect(usesAlways('${{ failed() }}')).toBe(true);
  expect(usesAlways("inputs.who == 'always()'")).toBe(false);
  expect(mentionsEach('${{ each == 1 }}')).toBe(true);
  expect(mentionsEach('inputs.each == 1')).toBe(false);
});

test('types are told where they are known beforehand', () => {
  expect(checkExpression('1 + 2')).toEqual({ type: 'int' });
  expect(checkExpression('tasks.a.output')).toEqual({ type: 'dyn' });
  expect(checkExpression('"a" + 1')).toMatchObject({
    problem: expect.stringContaining('cannot compute string + int'),
  });
});

test('only the tasks that an expression names are looked at', () => {
  const tasks = new Proxy(scope.tasks, {
    ownKeys: () => {
      throw new Error('all tasks were listed');
    },
  });
  expect(evaluate('tasks.design.output.count', { ...scope, tasks })).toBe(3);
});
