/**
 * Properties are tried with values that this run's seed (`vitest.config.ts`) and the name of the test decide: a property
 * that several tests share tries others in each.
 */
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { beforeEach } from 'vitest'

const seedOf = (name: string): number =>
  createHash('sha256').update(`${process.env.CHAOS_SEED} ${name}`).digest().readInt32BE()

fc.configureGlobal({ seed: seedOf('') })
beforeEach(({ task }) => fc.configureGlobal({ seed: seedOf(task.fullName) }))
