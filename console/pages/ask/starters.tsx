/** Before the first question: what it can do, and questions that fit what is here. */
import { Stack, Text, Title, UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api, keys } from '../../client.ts'
import { declared, dkeys } from '../../declared-client.ts'
import type { Task } from '../../lib/ask.ts'
import { startersOf } from '../../lib/starters.ts'

interface Props {
  isAdmin: boolean
  onAsk(question: string, task: Task): void
}

export function Starters({ isAdmin, onAsk }: Props) {
  const sources = useQuery({ queryKey: keys.sources, queryFn: api.sources })
  const entities = useQuery({ queryKey: keys.entities, queryFn: () => api.entities() })
  const triggers = useQuery({ queryKey: dkeys.triggers, queryFn: declared.triggers })
  const agents = useQuery({ queryKey: dkeys.agents, queryFn: () => declared.agents() })
  // What stands above them is known as well, and does not push them down.
  const capabilities = useQuery({ queryKey: keys.capabilities, queryFn: api.capabilities })
  const all = [sources, entities, triggers, agents, capabilities]
  // What cannot be read is not asked about; the questions do not change under the pointer.
  const isKnown = all.every(({ isPending }) => !isPending)
  const starters = isKnown
    ? startersOf({
        sources: sources.data ?? [],
        entities: entities.data?.labels ?? [],
        triggers: triggers.data ?? [],
        agents: agents.data?.agents ?? [],
        isAdmin,
      })
    : []
  if (!isKnown) return null
  return (
    <Stack gap="md" className="ask-starters">
      <div>
        <Title order={2}>What do you want to know?</Title>
        <Text size="sm" c="dimmed" mt={4}>
          Ask reads events, firings, runs and findings as you may, shows what it looked at, and changes
          nothing: what it proposes, you apply.
        </Text>
      </div>
      <ul className="ask-starter-list" aria-label="Questions to begin with">
        {starters.map(({ question, task }) => (
          <li key={question}>
            <UnstyledButton className="ask-starter" onClick={() => onAsk(question, task)}>
              {question}
            </UnstyledButton>
          </li>
        ))}
      </ul>
    </Stack>
  )
}
