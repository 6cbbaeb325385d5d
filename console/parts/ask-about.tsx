/** Takes what a page is about to Ask, as a question that is ready to be sent. */
import { Button } from '@mantine/core'
import { MessageCircleQuestion } from 'lucide-react'
import { Link } from 'react-router'
import { askPath } from '../lib/paths.ts'

export function AskAbout({ question, size = 'sm' }: { question: string; size?: 'xs' | 'sm' }) {
  return (
    <Button
      component={Link}
      to={askPath(question)}
      variant="default"
      size={size}
      leftSection={<MessageCircleQuestion size={16} aria-hidden />}
    >
      Ask about this
    </Button>
  )
}
