import BetterSqlite3 from 'better-sqlite3'
import { afterEach, expect, it, vi } from 'vitest'
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
  const compiled = vi.spyOn(BetterSqlite3.prototype, 'prepare')
  const engine = openEngineHere({ dataFile: null })
  expect(compiled.mock.calls.length).toBeLessThan(60)
  compiled.mockRestore()
  expect(held.length).toBeGreaterThan(400)
  for (const compile of held) compile()
  await engine.close()
})
