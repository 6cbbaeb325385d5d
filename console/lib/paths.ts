/** Addresses of pages: alone, so that what links to a page loads nothing else of it. */

export const runPath = (id: string): string => `/runs/${encodeURIComponent(id)}`
/** A run as a trace: its calls of models and tools in time. */
export const runTracePath = (id: string): string => `/traces/${encodeURIComponent(id)}`
export const comparePath = (id: string, other: string): string =>
  `${runPath(id)}/compare?with=${encodeURIComponent(other)}`
export const agentPath = (name: string, tab?: string): string =>
  `/agents/${encodeURIComponent(name)}${tab ? `?tab=${tab}` : ''}`
export const firingPath = (id: string): string => `/firings/${encodeURIComponent(id)}`
export const triggerPath = (name: string, tab?: string): string =>
  `/triggers/${encodeURIComponent(name)}${tab ? `?tab=${tab}` : ''}`
/** Address of Ask with a question that is ready to be sent. */
export const askPath = (question: string): string => `/ask?q=${encodeURIComponent(question)}`
