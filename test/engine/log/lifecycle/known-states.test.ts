import { expect, it } from 'vitest'
import { checkKnownStates } from '../../../../engine/log/lifecycle.ts'
import { openTestStore } from '../../open-test-store.ts'

it('refuses to start over a stored state that no machine knows, and names it', () => {
  const { store } = openTestStore()
  checkKnownStates(store.db)
  store.db
    .prepare(
      "INSERT INTO triggers (name, spec, snapshot, created_at, updated_at) VALUES ('x', '{}', ?, 0, 0)",
    )
    .run(JSON.stringify({ value: 'snoozed', context: {}, status: 'active', v: 1 }))
  expect(() => checkKnownStates(store.db)).toThrow(
    '1 stored trigger row is in state snoozed, which this svc does not know',
  )
})
