/** Calls about agents and machines that connect from outside. */
import { requestOf } from '../api/client/call.ts'
import * as calls from '../api/client/calls.ts'
import type { LoginApprove, OauthDecide } from '../schemas/types.ts'
import { ask } from './client.ts'

export const connect = {
  info: () => ask(calls.getConnect),
  approveLogin: (body: LoginApprove) => ask(calls.approveLogin, { body }),
  /** What a client asks this person to consent to. @param query of the address that the client opened */
  oauthRequest: (query: string) => ask(calls.showOauthRequest, { body: { query } }),
  decideOauth: (body: OauthDecide) => ask(calls.decideOauthRequest, { body }),
  oauthSessions: () => ask(calls.listOauthSessions),
  endOauthSession: (id: string) => ask(calls.revokeOauthSession, { id }),
  /** Address of the SKILL.md that teaches an agent to use svc. */
  skillUrl: requestOf(calls.downloadAgentSkill).path,
}
