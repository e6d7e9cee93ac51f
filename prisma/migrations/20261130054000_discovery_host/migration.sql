-- Entries and claims are counted by recipient and host.
CREATE INDEX "discovery_resource_host" ON "discovery_resource"("pay_to", rtrim(split_part(split_part("resource", '/', 3), ':', 1), '.'));
CREATE INDEX "discovery_check_pay_to_host_idx" ON "discovery_check"("pay_to", "host");
