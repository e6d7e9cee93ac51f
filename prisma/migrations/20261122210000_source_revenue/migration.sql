-- What templates were sold for belongs to an asset's revenue; those sold before are added here, once.
INSERT INTO run_delta (rda_id, runs, succeeded, revenue, latency_ms)
SELECT rda_id, 0, 0, sum(price), 0 FROM rda_source_sale GROUP BY rda_id;
