/** What the environment says of model providers: read when the daemon starts, never again. */
export interface ModelEnvironment {
  providera: {
    token: string | null
    key: string | null
    baseUrl: string | null
    /** Variable the address is from. */
    baseFrom: 'PROVIDERA_BASE_URL' | 'SVC_PROVIDERA_BASE'
  }
  providerb: { key: string | null; baseUrl: string | null }
  /** A chat-completions endpoint handed in by a deployment. */
  platform: { url: string; key: string | null; name: string } | null
  /** SVC_MODEL_PROVIDER */
  defaultProvider: string | null
  /** SVC_AGENT_MODEL */
  agentModel: string | null
  /** SVC_AGENT_DAILY_CAP */
  dailyCap: number | null
}

export const emptyModelEnvironment: ModelEnvironment = Object.freeze({
  providera: { token: null, key: null, baseUrl: null, baseFrom: 'PROVIDERA_BASE_URL' as const },
  providerb: { key: null, baseUrl: null },
  platform: null,
  defaultProvider: null,
  agentModel: null,
  dailyCap: null,
})
