/** Why no agent looks at an incident: none is woken by its trigger, or those are off, with the switch right there. */
import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { Fragment } from 'react'
import { Link } from 'react-router'
import type { IncidentDetail } from '../../schemas/types.ts'
import { declared } from '../declared-client.ts'
import { ikeys } from '../incident-client.ts'
import { agentPath, triggerPath } from '../lib/paths.ts'
import { useChange } from '../lib/use-change.ts'
import { Acts } from './may.tsx'

export function NoAgent({ incident: { id, trigger, wakes } }: { incident: IncidentDetail }) {
  const queries = useQueryClient()
  const turnOn = useChange((agent: string) => declared.switchAgent(agent, true), {
    failed: (agent) => `Couldn’t switch ${agent} on`,
    said: (_result, agent) => `${agent} is on`,
    onDone: () => void queries.invalidateQueries({ queryKey: ikeys.one(id) }),
  })
  if (wakes.length === 0)
    return (
      <>
        <span>No agent looks at this: its trigger wakes none.</span>
        <Acts>
          <Link className="push" to={triggerPath(trigger, 'edit')}>
            Wake one
          </Link>
        </Acts>
      </>
    )
  const off = wakes.filter(({ on }) => !on)
  // Whatever is on now was switched on after it fired.
  const named = off.length > 0 ? off : wakes
  const isOne = named.length === 1
  return (
    <>
      <span>
        {off.length > 0 && 'No agent looks at this: '}
        {named.map(({ agent }, i) => (
          <Fragment key={agent}>
            {i > 0 && (i === named.length - 1 ? ' and ' : ', ')}
            <Link to={agentPath(agent)}>{agent}</Link>
          </Fragment>
        ))}
        {off.length > 0
          ? ` ${isOne ? 'is' : 'are'} off.`
          : ` ${isOne ? 'is on, and looks' : 'are on, and look'} when it fires again.`}
      </span>
      {off.length > 0 && (
        <Acts>
          <span className="push" style={{ display: 'flex', flexWrap: 'wrap', gap: 6 }}>
            {off.map(({ agent }) => (
              <Button
                key={agent}
                size="compact-sm"
                variant="default"
                loading={turnOn.isPending && turnOn.variables === agent}
                onClick={() => turnOn.mutate(agent)}
              >
                {isOne ? 'Switch on' : `Switch on ${agent}`}
              </Button>
            ))}
          </span>
        </Acts>
      )}
    </>
  )
}
