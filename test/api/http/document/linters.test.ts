/** Issue 16, B1: the API document under the linters that others run over it. */
import { createConfig, lintFromString } from '@redocly/openapi-core'
import spectralCore from '@stoplight/spectral-core'
import spectralRulesets from '@stoplight/spectral-rulesets'
import { describe, expect, it } from 'vitest'
import { textOf } from '../../../house/project-files.ts'

const text = textOf('api/http/openapi.json')

interface Problem {
  rule: string
  /** Where, as names from the top of the document. */
  at: string
  message: string
}

interface Exception {
  rule: string
  at: RegExp
  reason: string
}

const ONLY_EXPLAINS = 'GET says that discovery is asked for by POST: it has no other answer than 405'
const WRITTEN_BY_PEOPLE =
  'configs and specs that stand in free fields of bodies, catalog files and templates: clients know them by name'
const PEOPLE_WRITE =
  /components\/schemas\/(\w+Config|(Agent|Entity|McpServer|Skill|Source|Trigger)Spec|Claim|ObjectRef|ProjectUpdated|PresetFile|Template(File|Params))$/

const EXCEPTIONS: Record<'redocly' | 'spectral', Exception[]> = {
  redocly: [
    { rule: 'operation-2xx-response', at: /sources~1discover\/get/, reason: ONLY_EXPLAINS },
    { rule: 'no-unused-components', at: PEOPLE_WRITE, reason: WRITTEN_BY_PEOPLE },
    {
      rule: 'no-ambiguous-paths',
      at: /~1api~1(projects|usecases)~1/,
      reason: 'the paths are specified; a fixed part wins, and no project has the id templates or recipes',
    },
  ],
  spectral: [
    { rule: 'operation-success-response', at: /sources\/discover\/get/, reason: ONLY_EXPLAINS },
    { rule: 'oas3-unused-component', at: PEOPLE_WRITE, reason: WRITTEN_BY_PEOPLE },
  ],
}

/** Takes a minute, as every schema is compiled where it is used; Redocly and document.test.ts do the same. */
const ELSEWHERE = { 'oas3-valid-media-example': 'off', 'oas3-valid-schema-example': 'off' }

/** Every problem is an exception that is listed, and every exception is needed. */
function expectOnly(problems: readonly Problem[], exceptions: readonly Exception[]): void {
  const fits =
    (problem: Problem) =>
    ({ rule, at }: Exception) =>
      rule === problem.rule && at.test(problem.at)
  expect(problems.filter((problem) => !exceptions.some(fits(problem)))).toEqual([])
  const idle = exceptions.filter((exception) => !problems.some((problem) => fits(problem)(exception)))
  expect(idle.map(({ reason }) => reason)).toEqual([])
}

describe('B1: the API document', () => {
  it('has no error and no warning of Redocly, recommended rules', async () => {
    const problems = await lintFromString({
      source: text,
      absoluteRef: 'openapi.json',
      config: await createConfig({ extends: ['recommended'] }),
    })
    expectOnly(
      problems.map(({ ruleId, message, location }) => ({
        rule: ruleId,
        at: location[0]?.pointer ?? '',
        message,
      })),
      EXCEPTIONS.redocly,
    )
  })

  it('has no error and no warning of Spectral, rules for OpenAPI', async () => {
    const spectral = new spectralCore.Spectral()
    spectral.setRuleset({ extends: [spectralRulesets.oas], rules: ELSEWHERE } as never)
    const problems = await spectral.run(JSON.parse(text))
    expectOnly(
      problems.map(({ code, path, message }) => ({ rule: String(code), at: path.join('/'), message })),
      EXCEPTIONS.spectral,
    )
  })
})
