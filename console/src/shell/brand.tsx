export const Brand = () => (
  <span class="brand">
    <svg viewBox="0 0 24 24" aria-hidden="true">
      <rect width="24" height="24" rx="6" class="brand-tile" />
      <path d="M6.5 18.5V9m0 3.2L18 7.2M4.8 18.5h5M17.5 18.5v-4" class="brand-gate" />
    </svg>
    Tollgate
  </span>
);
