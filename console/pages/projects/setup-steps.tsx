/** What a template leaves to be set up by hand: the steps, a command that tries each, and where to read more. */
import { Anchor, List, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Template } from '../../../schemas/types.ts'
import { api, keys } from '../../client.ts'
import { stepCommand } from '../../lib/step-command.ts'
import { CopyBlock } from '../../parts/copy.tsx'

/** @param isMade the project is there, and its sources have pages of their own */
export function SetupSteps({
  template: { setup, guide },
  isMade,
}: {
  template: Pick<Template, 'setup' | 'guide'>
  isMade: boolean
}) {
  const { data: capabilities } = useQuery({ queryKey: keys.capabilities, queryFn: api.capabilities })
  const isSecured = capabilities?.auth_required ?? false
  const sends = setup.some(({ command }) => command?.includes('$INGEST_KEY'))
  return (
    <Stack gap="xs">
      <List type="ordered" size="sm" spacing="sm" withPadding>
        {setup.map(({ title, text, command }) => (
          <List.Item key={title}>
            <Text size="sm" fw={600}>
              {title}
            </Text>
            {text && <Text size="sm">{text}</Text>}
            {command && (
              <CopyBlock
                value={stepCommand(command, window.location.origin, isSecured)}
                label={`Copy the command of: ${title}`}
              />
            )}
          </List.Item>
        ))}
      </List>
      {sends && (
        <Text size="sm" c="dimmed">
          <code>$INGEST_KEY</code> is the end of the address of the source, after /ingest/
          {isSecured ? ', and $SVC_AUTH_TOKEN a key with scope ingest' : ''}.{' '}
          {isMade
            ? 'The page of each source has its address, and a command that is ready to run.'
            : 'The address of each source is on its page once the project is made.'}
        </Text>
      )}
      {guide && (
        <Anchor href={guide.url} target="_blank" rel="noreferrer" size="sm">
          {guide.label}
        </Anchor>
      )}
    </Stack>
  )
}
