/** What is told of files that could not be put together, beside what an engine finds in the rest. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { svc } from './cli-harness.ts'

it('a part of another repository is missed without a daemon, until its folder is given, too', async () => {
  const [own, other] = [mkdtempSync(join(tmpdir(), 'svc-input-')), mkdtempSync(join(tmpdir(), 'svc-input-'))]
  const trigger = 'triggers:\n  - { name: t, sources: [gateway], condition: { event: any } }\n'
  writeFileSync(join(own, 'a.yaml'), trigger)
  const source = 'catalog: other\nsources:\n  - { name: gateway, connector: webhook }\n'
  writeFileSync(join(other, 'catalog.yaml'), source)
  const hint = 'parts of another repository are not known here: give its folder, too'
  const alone = await svc(['catalog', 'check', '--offline', own])
  expect([alone.code, alone.err]).toEqual([65, expect.stringContaining('no source is named gateway')])
  expect(alone.err).toContain(hint)
  expect(await svc(['catalog', 'check', '--offline', own, other])).toMatchObject({ code: 0, err: '' })
  // A typo is no part of another repository.
  writeFileSync(
    join(own, 'a.yaml'),
    `${trigger}${source.split('\n').slice(1).join('\n').replace('gateway', 'gatway')}`,
  )
  const typo = await svc(['catalog', 'check', '--offline', own])
  expect(typo.err).toContain('did you mean gatway?')
  expect(typo.err).not.toContain(hint)
})

it('a value that no file declares is one problem, whatever a field makes of its name', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'svc-input-')), 'shop.yaml')
  writeFileSync(
    file,
    `sources:
  - { name: gateway, connector: webhook }
triggers:
  - name: errors
    sources: [gateway]
    condition: { aggregate: count, predicate: "> ((values.errors))", window: 5m }
    cooldown: ((values.rest))
  - name: slow
    sources: [gateway]
    condition: { aggregate: count, predicate: many, window: 5m }
`,
  )
  const { code, err } = await svc(['catalog', 'check', '--offline', file])
  expect([code, err.split('\n').map((line) => line.replace(`${file}:`, ''))]).toEqual([
    65,
    [
      'svc: 3 problems',
      '6:47: no file of the catalog declares a value errors',
      '7:15: no file of the catalog declares a value rest',
      expect.stringMatching(/^10:47: triggers\[1\]\.condition\.predicate: predicate must be a comparison/),
      '',
    ],
  ])
})

it('an environment that no file has stands on no line of them', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'svc-input-')), 'shop.yaml')
  writeFileSync(file, 'sources: []\n')
  const check = ['catalog', 'check', '--offline', '--env', 'nope', file]
  const told = 'no file says environment: nope; no file has one'
  expect((await svc(check)).err).toBe(`svc: 1 problem\n${told}\n`)
  expect((await svc([...check, '--format', 'github'])).out).toBe(`::error title=problem::${told}\n`)
})

it('nothing on standard input is what a program left that failed, and no catalog without parts', async () => {
  for (const command of [
    'check --offline',
    'lint',
    'test',
    'plan',
    'apply --yes',
    'check --offline --env staging',
  ])
    expect(await svc(['catalog', ...command.split(' '), '-'], { stdin: '\n' }), command).toMatchObject({
      code: 66,
      out: '',
      err: expect.stringMatching(
        /^svc: standard input is empty: did the program that writes the catalog fail\?/,
      ),
    })
  expect(await svc(['catalog', 'check', '--offline', '-'], { stdin: '{}\n' })).toMatchObject({ code: 0 })
})
