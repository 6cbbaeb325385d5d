/** What the lifecycle of a turn of Ask takes while it runs, as tables.ts has the others. */
import type { Situation, Taken } from './situation.ts'

const turnEnds = (to: string, left: { answer: string; error?: string }): Taken => ({
  to,
  brings: left,
  effects: [{ type: 'end_turn', params: { error: null, ...left } }],
})

export const runningTurns: Situation[] = [2, 3].map((resumes) => ({
  state: 'running',
  context: { resumes },
  takes: {
    answer: turnEnds('answered', { answer: 'The database.' }),
    exhaust: turnEnds('exhausted', { answer: 'The' }),
    cancel: turnEnds('cancelled', { answer: '' }),
    fail: turnEnds('failed', { answer: '', error: 'no model provider' }),
    interrupted:
      resumes < 3
        ? { to: 'running', context: { resumes: 3 }, effects: [{ type: 'resume_turn' }] }
        : {
            ...turnEnds('failed', { answer: 'The' }),
            effects: [
              {
                type: 'end_turn',
                params: {
                  answer: 'The',
                  error: 'the service stopped again and again while this was answered; ask again',
                },
              },
            ],
          },
  },
}))
