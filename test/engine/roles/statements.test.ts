import { afterEach, expect, it } from 'vitest'
import { watchStatements } from '../../../engine/log/store/handle.ts'
import { openEngineHere } from '../../../engine/roles/here.ts'

afterEach(() => watchStatements(null))

it('every statement that an engine holds is one SQLite can compile, although each is compiled at its first use', async () => {
  const held: (() => void)[] = []
  watchStatements((compile, sql) => {
    held.push(() => {
      try {
        compile()
      } catch (error) {
        throw new Error(`${(error as Error).message}: ${sql}`)
      }
    })
  })
  const engine = openEngineHere({ dataFile: null })
  expect(held.length).toBeGreaterThan(400)
  for (const compile of held) compile()
  await engine.close()
})
