/** The pack of svc itself: 40 scenarios, of which 12 are held out, so that nothing is tuned on them. */
import { calm } from './calm.ts'
import { changes } from './changes.ts'
import { first } from './first.ts'
import { other } from './other.ts'
import { symptoms } from './symptoms.ts'
import type { Scenario } from './world.ts'

export const scenarios: readonly Scenario[] = [...first, ...changes, ...symptoms, ...calm, ...other]
