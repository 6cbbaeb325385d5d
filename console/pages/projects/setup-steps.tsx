/** What a template leaves to be set up by hand: the steps, a command that tries each, and where to read more. */
import { Anchor, List, Stack, Text } from '@mantine/core'
import type { Template } from '../../../schemas/types.ts'
import { CopyBlock } from '../../parts/copy.tsx'

/** @param isMade the project is there, and its sources have pages of their own */
export function SetupSteps({
  template: { setup, guide },
  isMade,
}: {
  template: Pick<Template, 'setup' | 'guide'>
  isMade: boolean
}) {
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
                value={command.replaceAll('$SVCD_URL', window.location.origin)}
                label={`Copy the command of: ${title}`}
              />
            )}
          </List.Item>
        ))}
      </List>
      {sends && (
        <Text size="sm" c="dimmed">
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
