import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * What takes longest begins first: begun last it would leave the other workers without work. Those of daemons and of real
 * programs, by what they took; a program is started for less while its worker is young, too.
 */
const LONGEST = [
  /\/test\/(examples|journeys)\/gitops/,
  /\/threads\/blocked-writer|\/contract\/daemon|\/chaos\/catalog-sync/,
  /\/test\/chaos\/|\/reconcile\//,
  /daemon|\/test\/journeys\/|\/cli\/catalog-sync|\/otlp\/(crash-loop|overload|secured)|\.property\./,
]

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification): number => {
      const at = LONGEST.findIndex((one) => one.test(moduleId))
      return at < 0 ? LONGEST.length : at
    }
    return (await super.sort(files)).sort((a, b) => rankOf(a) - rankOf(b))
  }
}

/**
 * Settings of glibc's malloc (mallopt(3)), which forks take over: by default the thresholds rise with each large block
 * that is freed, and a fork that has opened a hundred stores keeps 700 MB where it needs 450. Each program that a test
 * starts copies the tables of that memory: 44 ms of the processor at 1.5 GB, 1 ms at 50 MB (2026-11-26). At their least,
 * 128 KiB, each larger block is mapped and paged in anew: 78 s of processor time became 68 s with these (2026-11-28).
 */
const LEAN_ENV = { MALLOC_MMAP_THRESHOLD_: String(4 * 2 ** 20), MALLOC_TRIM_THRESHOLD_: String(64 * 2 ** 20) }
Object.assign(process.env, { ...LEAN_ENV, ...process.env })

/**
 * What random tests begin with: the same for each run of one commit, so that what passed before it was sent passes after
 * it, too, and another with each change of behaviour, so that they go on searching. `CHAOS_SEED` asks for one.
 */
process.env.CHAOS_SEED ??= String(
  createHash('sha256')
    .update(readFileSync(new URL('CHANGELOG.md', import.meta.url)))
    .digest()
    .readUInt32BE() % 1e6,
)

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the roles of an engine's store run. */
    roles: 'here' | 'threads'
  }
}

/**
 * Suites of the contract that run a second time with a thread for each role: those in which something passes between
 * roles that a message could lose, reorder or answer differently.
 */
const ON_THREADS = ['catalog-read-key', 'credentials', 'environment', 'repeated-calls', 'tracing']

export default defineConfig({
  test: {
    projects: [
      { extends: true, test: { name: 'here', include: ['test/**/*.test.ts'], provide: { roles: 'here' } } },
      {
        extends: true,
        test: {
          name: 'threads',
          include: ON_THREADS.map((suite) => `test/contract/${suite}.test.ts`),
          provide: { roles: 'threads' },
        },
      },
    ],
    setupFiles: ['test/random-runs.ts'],
    pool: 'forks',
    // Room for what is young: a test leaves much behind at once, and collecting it more often takes a twentieth more. Room
    // for what is old, and no optimizing compiler: few functions run often enough to be worth either (609 s of processor time
    // became 571 s, 2026-11-27).
    execArgv: [
      ...['--min-semi-space-size=64', '--max-semi-space-size=64', '--initial-old-space-size=800'],
      '--no-turbofan',
    ],
    // One more than cores: tests of daemons wait for most of their time.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    // Loading the product for each file again took a third of the time; no test changes what is global.
    isolate: false,
    // Ends what hangs; how fast a machine is must not decide a test.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // Unsaid it is a second, which a machine under load takes for anything.
    expect: { poll: { timeout: 90_000, interval: 20 } },
  },
})
