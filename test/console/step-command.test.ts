import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { fillStep, stepCommand } from '../../console/lib/step-command.ts'
import { exampleParams } from '../../engine/declared/projects/template-check.ts'
import { readTemplates } from '../../engine/declared/projects/templating.ts'

const at = { params: {}, origin: 'http://here:1', ingestKey: 'webhook-1', token: null }

const posts = [...readTemplates().values()].flatMap((file) =>
  (file.setup ?? []).flatMap(({ command }) =>
    command?.includes('$INGEST_KEY') ? [[command, exampleParams(file)] as const] : [],
  ),
)

/** What a shell makes of a command's words. */
const wordsOf = (command: string): string[] =>
  execFileSync('sh', ['-c', `printf '%s\\0' ${command}`], { encoding: 'utf8' })
    .split('\0')
    .slice(0, -1)

it.each(posts)('is ready to be run, with a key where one is needed: %s', (command, params) => {
  const open = wordsOf(stepCommand(command, { ...at, params }))
  expect(open).toContain('http://here:1/ingest/webhook-1')
  expect(open.join()).not.toContain('Authorization')
  expect(JSON.parse(open.at(-1)!)).toEqual(expect.any(Object))
  expect(wordsOf(stepCommand(command, { ...at, params, token: 'key-1' }))).toContain(
    'Authorization: Bearer key-1',
  )
})

it('says parameters as they are, and no value of one leaves the command', () => {
  const params = { field: `it's "\n$(id)`, list: ['up', 'down'], number: 5 }
  const command = `curl -d '{"{{ field }}": "{{ list }}", "n": {{ number }}}'`
  expect(JSON.parse(wordsOf(stepCommand(command, { ...at, params })).at(-1)!)).toEqual({
    [params.field]: 'up',
    n: 5,
  })
  expect(fillStep('{{ number }} of {{ none }}', params)).toBe('5 of …')
})

it('leaves other commands as they are', () => {
  expect(stepCommand('svc demo start', { ...at, token: 'key-1' })).toBe('svc demo start')
})
