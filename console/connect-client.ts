/** Calls about agents and machines that connect from outside. */
import { requestOf } from '../api/client/call.ts'
import * as calls from '../api/client/calls.ts'
import type { LoginApprove } from '../schemas/types.ts'
import { ask } from './client.ts'

export const connect = {
  info: () => ask(calls.getConnect),
  approveLogin: (body: LoginApprove) => ask(calls.approveLogin, { body }),
  /** Address of the SKILL.md that teaches an agent to use svc. */
  skillUrl: requestOf(calls.downloadAgentSkill).path,
}
