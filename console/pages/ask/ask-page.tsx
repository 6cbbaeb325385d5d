/** Ask: a conversation over what the instance holds, with those of before beside it. */
import { Alert, Button, Drawer, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { MessagesSquare, Plus } from 'lucide-react'
import { useState } from 'react'
import { Link, useNavigate, useParams, useSearchParams } from 'react-router'
import { ApiError, api, keys } from '../../client.ts'
import { newSession } from '../../lib/ask.ts'
import { askLive } from '../../lib/ask-live.ts'
import { PageHead } from '../../parts/page.tsx'
import { useIsNoModelSaid } from '../../parts/shell.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { Composer } from './composer.tsx'
import { Conversation } from './conversation.tsx'
import { SessionList } from './session-list.tsx'
import { Starters } from './starters.tsx'
import { useAsk } from './use-ask.ts'

/** The conversation that was to begin here last: a question of it that was refused is found again. */
let latest = ''
const freshSession = (isGiven: boolean): string => {
  if (isGiven || !askLive.isRefused(latest)) latest = newSession()
  return latest
}

export default function AskPage() {
  const { id } = useParams()
  const [query] = useSearchParams()
  const given = query.get('q') ?? ''
  const [fresh, setFresh] = useState(() => freshSession(given !== ''))
  const [listed, { open, close }] = useDisclosure(false)
  const go = useNavigate()
  const session = id ?? fresh
  const begin = () => {
    setFresh(freshSession(true))
    close()
    void go('/ask')
  }
  const sessions = <SessionList current={id} onOpen={close} onGone={begin} />
  return (
    <>
      <PageHead title="Ask">
        <Button
          variant="default"
          size="xs"
          hiddenFrom="md"
          leftSection={<MessagesSquare size={16} aria-hidden />}
          onClick={open}
        >
          Conversations
        </Button>
        <Button variant="default" size="xs" leftSection={<Plus size={16} aria-hidden />} onClick={begin}>
          New conversation
        </Button>
      </PageHead>
      <div className="ask-page">
        <Talk key={session} session={session} isNew={id === undefined} given={given} />
        <aside className="ask-sessions" aria-label="Conversations">
          {sessions}
        </aside>
      </div>
      <Drawer opened={listed} onClose={close} title="Conversations" position="right">
        {sessions}
      </Drawer>
    </>
  )
}

function Talk({ session, isNew, given }: { session: string; isNew: boolean; given: string }) {
  const asking = useAsk(session, isNew)
  const { turns, live, stored } = asking
  const identity = useQuery({ queryKey: ['whoami'], queryFn: api.whoami, staleTime: 60_000 })
  const isAdmin = identity.data?.scopes.includes('admin') ?? false
  // What is asked at an address of no conversation would begin one that nobody meant.
  const isGone = !live && stored.error instanceof ApiError && stored.error.status === 404
  const isEmpty = turns.length === 0 && !live
  return (
    <div className="ask-talk">
      <NoProvider isAdmin={isAdmin} />
      {stored.error && !live && (
        <Failed what="the conversation" error={stored.error} onRetry={() => void stored.refetch()} />
      )}
      {!isNew && stored.isPending && !live ? (
        <LoadingRows rows={3} />
      ) : isEmpty && !stored.error ? (
        <Starters onAsk={(question, task) => asking.ask(question, task)} />
      ) : (
        <Conversation asking={asking} isAdmin={isAdmin} />
      )}
      {!isGone && (
        <Composer
          asking={asking}
          given={given}
          path={isNew && !live ? undefined : `/ask/${session}`}
          isAdmin={isAdmin}
        />
      )}
    </div>
  )
}

/** Without a model nothing is answered: what to do is said before a question is typed. */
function NoProvider({ isAdmin }: { isAdmin: boolean }) {
  const isSaid = useIsNoModelSaid()
  const { data } = useQuery({ queryKey: keys.capabilities, queryFn: api.capabilities })
  if (!data || data.agent_key_configured || isSaid) return null
  return (
    <Alert color="yellow" title="No model is set up yet">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">
          {isAdmin
            ? 'Ask needs a model provider: add one, and come back.'
            : 'Ask needs a model provider. Somebody with scope admin adds one under Settings.'}
        </Text>
        {isAdmin && (
          <Button component={Link} to="/settings?tab=providers" size="xs" variant="default">
            Add a model provider
          </Button>
        )}
      </Stack>
    </Alert>
  )
}
