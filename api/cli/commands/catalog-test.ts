/** `svc catalog test`: the tests of catalog files, each on an engine in memory with its own clock. */
import { watch } from 'node:fs'
import type { PlannedTest, TestOutcome, TestWorld } from '../../../engine/local.ts'
import { loadModels } from '../../config-models.ts'
import { composeInput, type InputFlags, readBeside } from '../catalog-input.ts'
import { problemsError } from '../catalog-text.ts'
import { CliError, EXIT, usageError } from '../exit.ts'
import { writeText } from '../files.ts'
import { readTape, writeTape } from '../tape-file.ts'
import { type Io, printJson } from '../terminal.ts'
import { junitText, outcomesText } from '../test-text.ts'
import { problemsAlone } from './catalog-check.ts'

export interface TestFlags extends InputFlags {
  only?: string
  record?: boolean
  watch?: boolean
  junit?: string
  json?: boolean
}

/** Tests at work at once: those that wait for a model give way to others. */
const AT_ONCE = 8
/** Changes that come together, such as a save of several files, are one, milliseconds. */
const TOGETHER_MS = 100

/** Exits with 1 when a test fails or is stale, 65 when the files have problems. */
export async function testCatalog(io: Io, paths: readonly string[], flags: TestFlags): Promise<void> {
  if (flags.watch && flags.record) throw usageError('--record asks models once: leave --watch out')
  if (!flags.watch) return testOnce(io, paths, flags)
  for (;;) {
    const changed = changeIn(paths, io.interrupted)
    try {
      await testOnce(io, paths, flags)
    } catch (error) {
      if (!(error instanceof CliError)) throw error
      if (error.message) io.err(`${error.message}\n`)
    }
    await changed
    if (io.interrupted.aborted) return
  }
}

async function testOnce(io: Io, paths: readonly string[], flags: TestFlags): Promise<void> {
  const [file = '.'] = paths
  const composed = await composeInput(io, paths, flags)
  const local = await import('../../../engine/local.ts')
  const { tests, problems } = local.planTests(composed.tests, readBeside)
  const all = [...(await problemsAlone(io, composed)), ...problems]
  if (all.length) throw problemsError(file, all)
  const due = tests.filter(({ name }) => flags.only === undefined || name.includes(flags.only))
  if (flags.only !== undefined && due.length === 0)
    throw usageError(`no test has ${flags.only} in its name; there are ${tests.length}`)
  const answers = await answersOf(io, flags, local)
  try {
    const world: TestWorld = {
      ...{ open: local.createEngine, catalog: composed.catalog!, env: local.environmentElsewhere(io.env) },
      modelsOf: answers.of,
    }
    const outcomes = await runAll(due, (test) => local.runTest(world, test))
    tell(io, flags, outcomes)
  } finally {
    await answers.close()
  }
}

function tell(io: Io, flags: TestFlags, outcomes: readonly TestOutcome[]): void {
  if (flags.json) printJson(io, JSON.stringify({ tests: outcomes }))
  else io.out(outcomesText(io, outcomes))
  if (flags.junit !== undefined) writeText(io, flags.junit, junitText(outcomes))
  const bad = outcomes.filter(({ failures, stale }) => failures.length > 0 || stale !== null)
  if (bad.length) throw new CliError('', EXIT.failed)
}

/** @returns the outcomes in the order of the tests */
async function runAll(
  tests: readonly PlannedTest[],
  run: (test: PlannedTest) => Promise<TestOutcome>,
): Promise<TestOutcome[]> {
  const outcomes: TestOutcome[] = new Array(tests.length)
  const left = [...tests.entries()]
  const worker = async (): Promise<void> => {
    for (let next = left.shift(); next; next = left.shift()) outcomes[next[0]] = await run(next[1])
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return outcomes
}

/** Who answers agents: the tape of their test, or with --record the provider of the environment. @throws CliError 78 */
async function answersOf(
  io: Io,
  { record }: TestFlags,
  { createEngine, openProviderModels, recorded, replayed }: typeof import('../../../engine/local.ts'),
): Promise<{ of: TestWorld['modelsOf']; close(): Promise<void> }> {
  const fileOf = ({ tape, name }: PlannedTest) => tape ?? `${name}.json`
  if (!record) {
    const of = (test: PlannedTest) => ({ models: replayed(readTape(fileOf(test)), fileOf(test)) })
    return { of, close: async () => {} }
  }
  const provider = openProviderModels(createEngine, loadModels(io.env), io.env)
  try {
    await provider.models.resolve('', '')
  } catch (error) {
    await provider.close()
    throw new CliError(`--record asks models: ${(error as Error).message}`, EXIT.configuration)
  }
  return {
    of: (test) => {
      const { models, tape } = recorded(provider.models, { scenario: test.name, noise: 0, variant: 'test' })
      return { models, done: () => writeTape(fileOf(test), tape()) }
    },
    close: () => provider.close(),
  }
}

/** Resolves when something below the paths changed, or the command is to end. */
function changeIn(paths: readonly string[], interrupted: AbortSignal): Promise<void> {
  return new Promise((done) => {
    let isDue = false
    const watchers = (paths.length ? paths : ['.']).map((path) =>
      watch(path, { recursive: true }, () => {
        if (!isDue) setTimeout(end, TOGETHER_MS)
        isDue = true
      }),
    )
    const end = () => {
      for (const watcher of watchers) watcher.close()
      done()
    }
    if (interrupted.aborted) end()
    else interrupted.addEventListener('abort', end, { once: true })
  })
}
