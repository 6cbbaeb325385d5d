/** Who may import whom: each rule of .dependency-cruiser.cjs bites. That they hold is a check of its own (`npm run check`). */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cruise, type ICruiseOptions, type ICruiseResult, type IForbiddenRuleType } from 'dependency-cruiser'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const rules = createRequire(import.meta.url)('../../.dependency-cruiser.cjs') as {
  forbidden: IForbiddenRuleType[]
  options: ICruiseOptions
}

async function violations(folders: string[], more: ICruiseOptions): Promise<string[]> {
  const { output } = await cruise(folders, {
    ...rules.options,
    ...more,
    validate: true,
    ruleSet: { forbidden: rules.forbidden },
  })
  return (output as ICruiseResult).summary.violations.map(
    (violation) => `${violation.rule.name}: ${violation.from}`,
  )
}

/** A rule, a file that breaks it, and the import it does so with. */
const broken: [rule: string, file: string, imported: string][] = [
  ['no-cycles', 'engine/a.ts', './b.ts'],
  ['resolvable', 'engine/lost.ts', './nowhere.ts'],
  ['product-without-tests', 'engine/c.ts', '../test/fake.ts'],
  ['schemas-alone', 'schemas/a.ts', '../engine/ok.ts'],
  ['schemas-packages', 'schemas/b.ts', 'json-schema-to-typescript'],
  ['schemas-anywhere', 'schemas/c.ts', 'node:fs'],
  ['machines-pure', 'machines/a.ts', '../engine/ok.ts'],
  ['machines-packages', 'machines/b.ts', 'pino'],
  ['machines-anywhere', 'machines/c.ts', 'node:fs'],
  ['engine-below-doors', 'engine/d.ts', '../api/ok.ts'],
  ['engine-without-http', 'engine/e.ts', 'fastify'],
  ['engine-below-the-composition', 'engine/graph/z.ts', '../engine.ts'],
  ['engine-model', 'engine/model/a.ts', '../net/ok.ts'],
  ['engine-net', 'engine/net/a.ts', '../log/store/ok.ts'],
  ['engine-log', 'engine/log/a.ts', '../sources/ok.ts'],
  ['engine-sources', 'engine/sources/a.ts', '../triggers/ok.ts'],
  ['engine-documents', 'engine/documents/a.ts', '../declared/ok.ts'],
  ['engine-outbox', 'engine/outbox/a.ts', '../agents/ok.ts'],
  ['engine-triggers', 'engine/triggers/a.ts', '../agents/ok.ts'],
  ['engine-agents', 'engine/agents/a.ts', '../declared/ok.ts'],
  ['engine-incidents', 'engine/incidents/a.ts', '../declared/ok.ts'],
  ['engine-roles', 'engine/roles/a.ts', '../threads/ok.ts'],
  ['engine-declared', 'engine/declared/a.ts', '../graph/ok.ts'],
  ['engine-gitops', 'engine/gitops/a.ts', '../graph/ok.ts'],
  ['engine-reconcile', 'engine/reconcile/a.ts', '../graph/ok.ts'],
  ['engine-graph', 'engine/graph/a.ts', '../operations/ok.ts'],
  ['engine-slack', 'engine/slack/a.ts', '../operations/ok.ts'],
  ['engine-operations', 'engine/operations/a.ts', '../threads/ok.ts'],
  ['engine-store-below', 'engine/log/store/a.ts', '../timeline/ok.ts'],
  ['engine-ingest', 'engine/log/ingest/a.ts', '../timeline/ok.ts'],
  ['engine-timeline', 'engine/log/timeline/a.ts', '../ingest/ok.ts'],
  ['engine-connectors-pure', 'engine/sources/connectors/a.ts', '../../log/store/ok.ts'],
  ['api-through-the-index', 'api/a.ts', '../engine/ok.ts'],
  ['daemon-without-the-engine', 'api/http/a.ts', '../../engine/local.ts'],
  ['mcp-through-http', 'api/mcp/a.ts', '../../engine/index.ts'],
  ['client-anywhere', 'api/client/a.ts', '../ok.ts'],
  ['client-in-a-browser', 'api/client/b.ts', 'node:fs'],
  ['api-without-console', 'api/b.ts', '../console/ok.ts'],
  ['api-without-sql', 'api/c.ts', 'better-sqlite3'],
  ['console-outside', 'console/a.ts', '../engine/ok.ts'],
  ['console-in-a-browser', 'console/b.ts', 'node:fs'],
  ['e2e-outside', 'e2e/a.ts', '../engine/ok.ts'],
  ['one-owner-sqlite', 'engine/agents/b.ts', 'better-sqlite3'],
  ['one-owner-xstate', 'engine/f.ts', 'xstate'],
  ['one-owner-undici', 'engine/agents/d.ts', 'undici'],
  ['one-owner-ajv', 'engine/g.ts', 'ajv'],
  ['one-owner-mcp', 'api/http/b.ts', '@modelcontextprotocol/server'],
  ['one-owner-commander', 'api/d.ts', 'commander'],
]

const allowed: [file: string, imported: string][] = [
  ['schemas/index.ts', 'ajv'],
  ['schemas/generate.ts', 'node:fs'],
  ['machines/d.ts', 'xstate'],
  ['engine/log/store/b.ts', 'better-sqlite3'],
  ['engine/log/pipeline.ts', '../sources/ok.ts'],
  ['engine/triggers/b.ts', '../log/timeline/ok.ts'],
  ['engine/log/timeline/b.ts', '../ingest/label.ts'],
  ['api/e.ts', '../engine/index.ts'],
  ['api/cli/a.ts', 'commander'],
  ['api/cli/b.ts', '../../engine/local.ts'],
  ['console/c.ts', '../schemas/ok.ts'],
  ['console/d.ts', '../api/client/ok.ts'],
]

describe('imports', () => {
  let folder: string
  let found: string[]

  beforeAll(async () => {
    // Inside the project, so that packages are found from it.
    mkdirSync(join(root, 'test-results'), { recursive: true })
    folder = mkdtempSync(join(root, 'test-results', 'imports-'))
    const targets = [
      'engine/ok.ts',
      'engine/index.ts',
      'engine/local.ts',
      'engine/engine.ts',
      ...['net', 'sources', 'declared', 'triggers', 'agents', 'graph', 'operations', 'threads'].map(
        (room) => `engine/${room}/ok.ts`,
      ),
      'engine/log/timeline/ok.ts',
      'engine/log/ingest/ok.ts',
      'engine/log/ingest/label.ts',
      'engine/log/store/ok.ts',
      'api/ok.ts',
      'api/client/ok.ts',
      'console/ok.ts',
      'schemas/ok.ts',
      'test/fake.ts',
    ]
    for (const file of targets) write(file, 'export const x = 1\n')
    write('engine/b.ts', "import './a.ts'\n")
    write('tsconfig.json', '{}')
    for (const [, file, imported] of broken) write(file, `import * as x from '${imported}'\nconsole.log(x)\n`)
    for (const [file, imported] of allowed) write(file, `import * as x from '${imported}'\nconsole.log(x)\n`)
    found = await violations(['schemas', 'machines', 'engine', 'api', 'console', 'e2e'], {
      baseDir: folder,
      cache: false,
    })
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  function write(file: string, text: string): void {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }

  it('have a test for every rule', () => {
    expect(broken.map(([rule]) => rule).sort()).toEqual(rules.forbidden.map((rule) => rule.name).sort())
  })

  it.each(broken)('%s stops %s from importing %s', (rule, file) => {
    expect(found).toContain(`${rule}: ${file}`)
  })

  it.each(allowed)('%s may import %s', (file) => {
    expect(found.filter((violation) => violation.endsWith(`: ${file}`))).toEqual([])
  })
})
