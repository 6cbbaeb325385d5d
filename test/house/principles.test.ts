/** The principles of ARCHITECTURE.md: each names the tests that hold it, and those that no other test holds are held here. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { projectFiles, root, textOf } from './project-files.ts'

const principles = textOf('ARCHITECTURE.md')
  .split('## Principles')[1]!
  .split('\n## ')[0]!
  .split(/\n(?=\d+\. )/)
  .slice(1)

it('each principle names tests that hold it, which are there', () => {
  expect(principles).toHaveLength(10)
  for (const principle of principles) {
    const tests = [...(principle.split('Held by')[1] ?? '').matchAll(/`(test\/[^`]+)`/g)].map(
      ([, file]) => file!,
    )
    expect(tests, principle).not.toEqual([])
    expect(
      tests.filter((file) => !existsSync(join(root, file))),
      principle,
    ).toEqual([])
  }
})

describe('the way in', () => {
  it('reads top to bottom: each step stands below the one that takes it', () => {
    const path = 'engine/log/pipeline.ts'
    const file = ts.createSourceFile(path, textOf(path), ts.ScriptTarget.Latest, true)
    const pipeline = file.statements
      .filter(ts.isClassDeclaration)
      .find(({ name }) => name?.text === 'Pipeline')!
    const methods = pipeline.members.filter(ts.isMethodDeclaration)
    const places = new Map(methods.map((method, place) => [method.name.getText(), place]))
    const upwards: string[] = []
    const taken = new Set<string>()
    for (const [place, method] of methods.entries()) {
      const look = (node: ts.Node): void => {
        if (ts.isPropertyAccessExpression(node) && node.expression.kind === ts.SyntaxKind.ThisKeyword) {
          const to = places.get(node.name.text)
          if (to !== undefined) taken.add(node.name.text)
          if (to !== undefined && to < place) upwards.push(`${method.name.getText()} → ${node.name.text}`)
        }
        node.forEachChild(look)
      }
      look(method)
    }
    expect([...taken]).toEqual(expect.arrayContaining(['prepare', 'bodyOf', 'commit', 'store']))
    expect(upwards).toEqual([])
  })
})

describe('a state', () => {
  it('is set by the one writer of states: nothing else writes the snapshot of a row that is there', () => {
    const engine = projectFiles().filter((file) => /^engine\/.*\.ts$/.test(file))
    const writers = engine.filter((file) =>
      /\bUPDATE\b(?:(?!\bWHERE\b)[\s\S])*?\bsnapshot\s*=/.test(statementsOf(textOf(file)).join('\n;\n')),
    )
    expect(writers).toEqual(['engine/log/lifecycle.ts'])
  })

  it('that no machine has is one of these', () => {
    /** Columns called state or status of rows that have no lifecycle, with what they are. */
    const OTHERS: Readonly<Record<string, string>> = {
      'engine/agents/ask/queries.ts': 'what a browser keeps of a conversation',
      'engine/declared/projects/follow.ts': 'lines of progress of a plan, of which one runs',
      'engine/slack/answers.ts': 'the answer of a turn, copied with it',
    }
    const engine = projectFiles().filter((file) => /^engine\/.*\.ts$/.test(file))
    const writers = engine.filter((file) =>
      statementsOf(textOf(file)).some((one) =>
        /\bUPDATE\b(?:(?!\bWHERE\b)[\s\S])*?\b(?:state|status)\s*=/.test(one),
      ),
    )
    expect(writers).toEqual(Object.keys(OTHERS))
  })
})

/** The texts of a file that are statements of SQL. */
function statementsOf(text: string): string[] {
  const found: string[] = []
  const look = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) {
      const written = node.getText()
      if (/\b(?:UPDATE|INSERT)\b/.test(written)) found.push(written)
    }
    node.forEachChild(look)
  }
  look(ts.createSourceFile('', text, ts.ScriptTarget.Latest, true))
  return found
}
