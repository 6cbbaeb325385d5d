/** Markdown as text: no raw HTML, no images, links only to web, mail and this site. */
import { Typography } from '@mantine/core'
import Markdown from 'markdown-to-jsx'
import type { ComponentProps } from 'react'
import { Link } from 'react-router'

const SAFE_LINK = /^(https?:\/\/|mailto:|\/(?!\/)|#)/i

export interface MarkdownProps {
  text: string
  /** Below a heading of its own page: its headings come under that. */
  isNested?: boolean
}

const NESTED = Object.fromEntries(
  ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((heading) => [heading, { component: 'h3' }]),
)

export function MarkdownText({ text, isNested = false }: MarkdownProps) {
  return (
    <Typography style={{ overflowWrap: 'anywhere' }}>
      <Markdown
        options={{
          disableParsingRawHTML: true,
          // Elements alone: text in an element of its own when it is one line would change as it grows.
          forceBlock: true,
          sanitizer: (value, _tag, attribute) =>
            attribute === 'href' && SAFE_LINK.test(value) ? value : null,
          overrides: {
            ...(isNested ? NESTED : {}),
            img: { component: ({ alt }: { alt?: string }) => <span>{alt}</span> },
            a: { component: SafeLink },
          },
        }}
      >
        {text}
      </Markdown>
    </Typography>
  )
}

/** A page of this site opens here, any other in a tab of its own. */
function SafeLink({ href = '', children }: ComponentProps<'a'>) {
  if (href.startsWith('/')) return <Link to={href}>{children}</Link>
  return (
    <a href={href} rel="noopener noreferrer" target="_blank">
      {children}
    </a>
  )
}
