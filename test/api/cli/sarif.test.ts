/** Findings as SARIF, against the schema of its standard (OASIS SARIF 2.1.0). */
import { basename, resolve } from 'node:path'
import schema from '@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json' with { type: 'json' }
import { Ajv } from 'ajv'
import { expect, it } from 'vitest'
import { type Finding, findingsText } from '../../../api/cli/findings-text.ts'

// The schema is of draft 4, whose words for itself are others; its patterns are not those of Unicode.
const { $schema: _draft, id: _id, ...rules } = schema
const ajv = new Ajv({ strict: false, allErrors: true, unicodeRegExp: false, validateFormats: false })
const validate = ajv.compile(rules)

const finding: Finding = {
  ...{ rule: 'trigger-unused', severity: 'warning', file: 'a folder/ä.yaml', line: 3, column: 5 },
  ...{ end_line: 3, end_column: 9, path: 'triggers[0]', message: 'wakes no agent' },
}
const { end_line: _line, end_column: _column, ...placed } = finding

it.each([
  ['nothing', []],
  ['each severity', (['error', 'warning', 'note'] as const).map((severity) => ({ ...finding, severity }))],
  ['what is of no file', [{ ...placed, file: '' }]],
  ['a place without an end, and a path of its own', [{ ...placed, file: '/etc/shop.yaml', path: '' }]],
])('%s is valid SARIF', (_what, findings) => {
  const log: unknown = JSON.parse(
    findingsText('sarif', findings, {}, { 'trigger-unused': 'A trigger is used' }),
  )
  expect([validate(log), validate.errors]).toEqual([true, null])
})

it('is not valid when a line is none', () => {
  expect(validate(JSON.parse(findingsText('sarif', [{ ...finding, line: 0 }], {})))).toBe(false)
})

it('names a file from where a workflow of GitHub checked the repository out, wherever in it the command runs', () => {
  const env = { GITHUB_WORKSPACE: resolve('..') }
  const here = basename(resolve('.'))
  const files = [
    ['triggers/a.yaml', `${here}/triggers/a.yaml`],
    [resolve('b.yaml'), `${here}/b.yaml`],
    ['../c.yaml', 'c.yaml'],
    ['../../d.yaml', '../../d.yaml'],
    ['-', '-'],
  ]
  const findings = files.map(([file]) => ({ ...finding, file: file! }))
  const log = JSON.parse(findingsText('sarif', findings, env)) as { runs: { results: unknown[] }[] }
  expect(log.runs[0]!.results).toMatchObject(
    files.map(([, uri]) => ({ locations: [{ physicalLocation: { artifactLocation: { uri } } }] })),
  )
  const lines = findingsText('github', findings, env).trim().split('\n')
  expect(lines.map((line) => /file=([^,]*),/.exec(line)?.[1])).toEqual(files.map(([, file]) => file))
  expect(findingsText('github', [finding], {})).toContain(`file=${finding.file},`)
})
