/** The mark of Jeton. */
export const Coin = () => (
  <svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true" className="coin">
    <circle cx="9" cy="9" r="7.6" />
    <circle cx="9" cy="9" r="3.2" />
  </svg>
)
