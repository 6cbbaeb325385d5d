/** The states of a run of which more is to come; the index of open runs has the same. */
export const OPEN_STATES = ['queued', 'running', 'parked'] as const

export const isOpen = (state: string): boolean => (OPEN_STATES as readonly string[]).includes(state)
