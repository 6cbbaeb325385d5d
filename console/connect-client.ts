/** Calls about agents and machines that connect from outside. */
import type { ConnectInfo, LoginApprove, LoginApproved } from '../schemas/types.ts'
import { call } from './client.ts'

export const connect = {
  info: async () => (await call('GET', '/api/connect')).json() as Promise<ConnectInfo>,
  approveLogin: async (body: LoginApprove) =>
    (await call('POST', '/api/logins', body)).json() as Promise<LoginApproved>,
  /** Address of the SKILL.md that teaches an agent to use svc. */
  skillUrl: '/api/connect/skill',
}
