/** The demo: a made-up shop that can be broken, with a scripted model; loaded and removed whole. */
import { tagged } from './operation.ts'

const operation = tagged('demo')

export const demo = [
  operation({
    id: 'getDemo',
    route: 'GET /api/demo',
    scope: 'read',
    role: 'reader',
    answer: 'demo.json',
    summary: 'Whether the demo is loaded, and what of it is broken',
    run: (engine) => engine.demoStatus(),
  }),
  operation({
    id: 'startDemo',
    route: 'POST /api/demo',
    scope: 'admin',
    role: 'writer',
    answer: 'demo.json',
    access: 'changes',
    summary: 'Load the demo, with 90 minutes of history and one open incident',
    run: (engine, { by }) => engine.startDemo(by),
  }),
  operation({
    id: 'removeDemo',
    route: 'DELETE /api/demo',
    scope: 'admin',
    role: 'writer',
    answer: 'demo-removed.json',
    access: 'changes',
    summary: 'Remove the demo with all that it made',
    run: (engine, { by }) => engine.removeDemo(by),
  }),
  operation({
    id: 'breakDemo',
    route: 'POST /api/demo/faults',
    scope: 'admin',
    role: 'writer',
    body: 'request-demo-break.json',
    answer: 'demo.json',
    summary: 'Break a service of the demo',
    run: (engine, { body }) => engine.breakDemo(body.service),
  }),
  operation({
    id: 'mendDemo',
    route: 'DELETE /api/demo/faults',
    scope: 'admin',
    role: 'writer',
    query: {
      service: {
        type: 'string',
        enum: ['checkout', 'payments', 'cart', 'search'],
        description: 'Only this service; absent: all that are broken.',
      },
    },
    answer: 'demo.json',
    summary: 'Mend what is broken of the demo',
    run: (engine, { query }) => engine.mendDemo(query.service),
  }),
]
