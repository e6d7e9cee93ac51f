/** The mark. */
export function Coin({ className = 'size-5' }: { className?: string }) {
  return (
    <svg viewBox="0 0 24 24" aria-hidden className={className}>
      <rect x="2" y="2" width="20" height="20" rx="6" fill="#2b50e2" />
      <path d="M8.5 16.5 15.5 7.5" stroke="#fff" strokeWidth="2.6" strokeLinecap="round" />
    </svg>
  )
}
