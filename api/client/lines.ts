/** Answers in lines: how far a call is while it is worked out, and at last its answer (api/http sends them). */

/** Asks for an answer in lines; what is answered at once comes as JSON. */
export const IN_LINES = { accept: 'application/x-ndjson, application/json' }

/** How far a call is. */
export interface Progress {
  done: number
  of: number
}

/** The last of the lines. */
interface Ended {
  status: number
  answer: unknown
}

/**
 * Reads an answer, in lines or at once. @param told hears each line of progress.
 * @returns its status and its text. @throws Error where the lines end before the answer
 */
export async function readLines(
  response: Response,
  told: (progress: Progress) => void,
): Promise<{ status: number; text: string }> {
  const isLines = response.headers.get('content-type')?.startsWith('application/x-ndjson')
  if (!isLines || !response.body) return { status: response.status, text: await response.text() }
  const decoder = new TextDecoder()
  const reader = response.body.getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) throw new Error('the answer ended before it was whole')
    rest += decoder.decode(value, { stream: true })
    const lines = rest.split('\n')
    rest = lines.pop()!
    for (const line of lines) {
      const said = JSON.parse(line) as { progress: Progress } | Ended
      if ('status' in said) return { status: said.status, text: JSON.stringify(said.answer) }
      told(said.progress)
    }
  }
}
