/** Tokens where no credential is an app: asking GitHub for one fails. */
import { createGithubTokens, type GithubTokens } from '../../../engine/net/github-app.ts'

export const noApps: GithubTokens = createGithubTokens({
  clock: { now: () => 0 },
  egress: {
    send: async () => {
      throw new Error('no credential of this test is an app')
    },
  },
})
