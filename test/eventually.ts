/** Waits for what comes about by itself, where no event tells of it. */
import { vi } from 'vitest'

/**
 * Resolves once `check` throws no more, looking every `everyMs`. How fast a machine is decides no test: the limit is
 * far beyond what anything here takes, so that what never comes is told by what was expected and not as a test that hung.
 * @throws what `check` threw last, after a minute and a half
 */
export const eventually = <T>(check: () => T | Promise<T>, everyMs = 20): Promise<T> =>
  vi.waitFor(check, { timeout: 90_000, interval: everyMs })
