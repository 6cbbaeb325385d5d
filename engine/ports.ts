/** What the threads around the store need of it beyond Engine: secrets are in it, so it is not for doors. */

import type { AskPort } from './ask/types.ts'
import type { CredentialPort } from './credentials/calls.ts'
import type { ModelPort } from './models/calls.ts'
import type { TrialPort } from './polling/trials.ts'
import type { PollPort } from './polling/types.ts'
import type { PlanningPort } from './setup/planning/port.ts'
import type { SlackPorts } from './slack/open.ts'
import type { TracingPort } from './tracing/calls.ts'

export interface EnginePorts
  extends ModelPort,
    TracingPort,
    PollPort,
    TrialPort,
    CredentialPort,
    PlanningPort,
    AskPort,
    SlackPorts {}
