-- The rows of the total, without the many purchases of one account from another, which take nothing of it.
CREATE INDEX outflow_total ON outflow (environment, at) WHERE kind <> 'account';
