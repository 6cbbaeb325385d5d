import { expect, it } from 'vitest'
import { stepCommand } from '../../console/lib/step-command.ts'
import { readTemplates } from '../../engine/declared/projects/templating.ts'

const posts = [...readTemplates().values()]
  .flatMap(({ setup }) => setup ?? [])
  .flatMap(({ command }) => (command?.includes('$INGEST_KEY') ? [command] : []))

it.each(posts)('posts to the address that is looked at, with a key where one is needed: %s', (command) => {
  const open = stepCommand(command, 'http://here:1', false)
  expect(open).toMatch(/^curl -X POST "http:\/\/here:1\/ingest\/\$INGEST_KEY"/)
  expect(open).not.toContain('Authorization')
  expect(stepCommand(command, 'http://here:1', true)).toMatch(
    /^curl -H "Authorization: Bearer \$SVC_AUTH_TOKEN" -X POST "http:\/\/here:1\/ingest\/\$INGEST_KEY"/,
  )
})

it('leaves other commands as they are', () => {
  expect(stepCommand('svc demo start', 'http://here:1', true)).toBe('svc demo start')
})
