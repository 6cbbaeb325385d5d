/** How the polls of a source go: when it was asked, when it is next, and what came in the way. */
import { Alert, SimpleGrid } from '@mantine/core'
import type { Source } from '../../../schemas/types.ts'
import { count } from '../../lib/time.ts'
import { Fact } from '../../parts/fact.tsx'
import { When } from '../../parts/when.tsx'

export function Polls({ source: { health, poll } }: { source: Source }) {
  const isFailing = health.consecutive_errors > 0
  return (
    <>
      <SimpleGrid cols={{ base: 2, md: 4 }}>
        <Fact title="Poll interval">{poll}</Fact>
        <Fact title="Last poll">
          <When at={health.last_poll_at} never="none yet" />
        </Fact>
        <Fact title={isFailing ? 'Next try' : 'Next poll'}>
          <When at={health.next_poll_at} never="not while it is paused" />
        </Fact>
        {isFailing ? (
          <Fact title="Errors in a row">{count(health.consecutive_errors)}</Fact>
        ) : (
          <Fact title="Polls since start">{count(health.polls)}</Fact>
        )}
      </SimpleGrid>
      {health.status === 'refused' && (
        <Alert color="yellow" title="Backing off">
          {sentence(health.reason)}
        </Alert>
      )}
      {health.status === 'error' && (
        <Alert color="red" title={health.last_ok_at ? 'Worked before, fails now' : 'Not read yet'}>
          {sentence(health.reason)}
          {health.last_ok_at && (
            <>
              {' Last read '}
              <When at={health.last_ok_at} />
              {'; what the upstream still has then is read on from there.'}
            </>
          )}
        </Alert>
      )}
      {health.notice && (
        <Alert color="yellow" title="Worth knowing">
          {health.notice}
        </Alert>
      )}
    </>
  )
}

/** As a sentence of its own. */
const sentence = (text: string | null): string =>
  text === null ? '' : `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`
