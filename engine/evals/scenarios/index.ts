/**
 * The pack of svc itself: 40 scenarios. 12 are held out for those who tune a prompt on the others; the scripted rules
 * were written with all of them at hand (docs/evals.md, Variants).
 */
import { calm } from './calm.ts'
import { changes } from './changes.ts'
import { first } from './first.ts'
import { other } from './other.ts'
import { symptoms } from './symptoms.ts'
import type { Scenario } from './world.ts'

export const scenarios: readonly Scenario[] = [...first, ...changes, ...symptoms, ...calm, ...other]
