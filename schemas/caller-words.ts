/** Who did something, as people are told it. */

/** What the daemon calls whoever comes without a credential, where it asks for none. */
export const NO_AUTH = 'no auth configured'

/** @param by as the API names the caller. @returns it, or "somebody" for whoever came without a credential */
export const callerText = (by: string): string => (by === NO_AUTH ? 'somebody' : by)
